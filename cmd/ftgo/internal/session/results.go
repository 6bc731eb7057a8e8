package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
)

// inputFile is a file that report and diff read: a recording, or JSON written by -o json.
type inputFile struct {
	*os.File
	size   int64
	isJSON bool
}

func openInput(name string) (*inputFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", name) // a recording is read twice
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	begin := make([]byte, 64)
	n, _ := f.ReadAt(begin, 0) // a later read reports the error
	return &inputFile{f, info.Size(), compare.IsJSON(begin[:n])}, nil
}

func (g *inputFile) readJSON() ([]*compare.Run, error) {
	return compare.Read(io.NewSectionReader(g, 0, g.size), g.Name())
}

// readRuns reads the runs of all files. It reads JSON files in parallel: one after the other, 200 files would take
// minutes. It reads recordings one after the other, because reading a recording uses all processors.
func (o *Options) readRuns(ctx context.Context, names []string) ([]*compare.Run, error) {
	defer o.Progress("reading results")()
	read, errs := make([][]*compare.Run, len(names)), make([]error, len(names))
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var recordings sync.Mutex
	var readers sync.WaitGroup
	for i, name := range names {
		readers.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				read[i], errs[i] = o.readRunsOf(ctx, name, &recordings)
			}
		})
	}
	readers.Wait()
	return slices.Concat(read...), cmp.Or(errs...)
}

// readRunsOf reads the runs of a JSON file, or a recording as a single run. It reads a recording while it holds the lock.
func (o *Options) readRunsOf(ctx context.Context, name string, recordings *sync.Mutex) ([]*compare.Run, error) {
	g, err := openInput(name)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	if g.isJSON {
		return g.readJSON()
	}
	recordings.Lock()
	defer recordings.Unlock()
	one := *o
	one.MaxLost, one.FailIf.Source, one.Merges = nil, "", true
	r, err := one.openReplay(g)
	if err != nil {
		return nil, err
	}
	defer r.closeBinary()
	if err := errors.Join(r.trace(ctx, io.Discard), ctx.Err()); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Name(), err)
	}
	return []*compare.Run{{File: g.Name(), Summary: r.last.Summary, Funcs: r.view.(*view.Table).Rows(r.last)}}, nil
}

// showSum merges the runs in the named files, and writes the table of their sum.
func (o *Options) showSum(all []*compare.Run, names []string) error {
	o.Merges, o.As = true, cmp.Or(o.As, "probe")
	if err := cli.CheckRules("report", o.holds); err != nil {
		return err
	}
	sum, err := compare.Merge(all, o.PerHost)
	if err != nil {
		return err
	}
	if err := o.CheckFailIf(sum.LatencyMeasured, sum.Errors(), "probe --errors"); err != nil {
		return err
	}
	err = o.Write(o.Env, names, func(out io.Writer) error { return o.View().WriteMerged(out, sum) })
	if err == nil && o.MaxLost != nil && sum.Lost > *o.MaxLost {
		err = cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", sum.Lost, *o.MaxLost))
	}
	return err
}
