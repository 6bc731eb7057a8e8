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

// given is a file that report and diff are given: a recording, or what -o json has written.
type given struct {
	*os.File
	name    string
	size    int64
	results bool
}

// open opens a file, or standard input.
func (o *Options) open(name string) (*given, error) {
	const megabyte = 1e6
	f, size, err := openRecording(name, func(done, of int64) { o.Doing("megabytes read", int(done/megabyte), int(of/megabyte)) })
	if err != nil {
		return nil, err
	}
	begin := make([]byte, 64)
	n, _ := f.ReadAt(begin, 0) // what can't be read is told by who reads it
	return &given{f, name, size, compare.IsJSON(begin[:n])}, nil
}

// onceStdin refuses - where it stands for nothing any more.
func onceStdin(names []string) error {
	if first := slices.Index(names, "-"); first >= 0 && slices.Contains(names[first+1:], "-") {
		return cli.Usage("- is given twice: there is one standard input")
	}
	return nil
}

// read reads what -o json has written.
func (g *given) read() ([]*compare.Run, error) {
	defer g.Close()
	return compare.Read(io.NewSectionReader(g, 0, g.size), g.name)
}

// runs reads all runs of files: those that -o json has written several at a time, since 200 of them are
// to be no matter of minutes, and recordings, which take all processors, one after the other.
func (o *Options) runs(ctx context.Context, names []string) (all []*compare.Run, err error) {
	defer o.Progress("reading results")()
	of, errs := make([][]*compare.Run, len(names)), make([]error, len(names))
	var replays []int
	var mu sync.Mutex
	var readers sync.WaitGroup
	next := 0
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		readers.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(names) || ctx.Err() != nil {
					return
				}
				var g *given
				if g, errs[i] = o.open(names[i]); errs[i] != nil {
					continue
				}
				if g.results {
					of[i], errs[i] = g.read()
					continue
				}
				g.Close()
				mu.Lock()
				replays = append(replays, i)
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		o.Doing("files read", i+1, len(names))
	}
	for _, i := range replays {
		run, err := o.recorded(ctx, names[i])
		if err != nil {
			return nil, err
		}
		of[i] = append(of[i], run)
	}
	for _, runs := range of {
		all = append(all, runs...)
	}
	return all, ctx.Err()
}

// recorded is the run of a recording.
func (o *Options) recorded(ctx context.Context, name string) (*compare.Run, error) {
	g, err := o.open(name)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	one := *o
	one.MaxLost, one.FailIf.Text = nil, ""
	one.Adds = true
	p, err := one.replay(g)
	if err != nil {
		return nil, err
	}
	if p.request.Target.Binary != nil {
		defer p.request.Target.Binary.Close()
	}
	if err := errors.Join(p.trace(ctx, io.Discard), ctx.Err()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &compare.Run{File: name, Summary: p.table.Summary, Funcs: p.view.(*view.Table).Rows(p.table)}, nil
}

// addUp is report of several runs.
func (o *Options) addUp(all []*compare.Run) (err error) {
	o.Adds, o.Recorded.As = true, cmp.Or(o.Recorded.As, "probe")
	if err := cli.CheckRules("report", o.given); err != nil {
		return err
	}
	sum, err := compare.Merge(all, o.PerHost)
	if err != nil {
		return err
	}
	if err := o.FailIf.CheckKnown(sum.LatencyMeasured, sum.Errors(), "probe --errors"); err != nil {
		return err
	}
	out, done, err := o.Open(o.Env, o.Recorded.files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := o.View().Added(out, sum); err != nil {
		return err
	}
	if o.MaxLost != nil && sum.Lost > *o.MaxLost {
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", sum.Lost, *o.MaxLost))
	}
	return nil
}
