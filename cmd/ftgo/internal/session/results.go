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
	read, recordings, errs := make([][]*compare.Run, len(names)), make([]*given, len(names)), make([]error, len(names))
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var readers sync.WaitGroup
	for i, name := range names {
		readers.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			g, err := o.open(name)
			switch {
			case err != nil:
				errs[i] = err
			case g.results:
				read[i], errs[i] = g.read()
			default:
				recordings[i] = g
			}
		})
	}
	readers.Wait()
	err = cmp.Or(errs...)
	for i, g := range recordings {
		if g != nil && err == nil {
			read[i], err = o.recorded(ctx, g)
		}
		if g != nil {
			g.Close()
		}
		o.Doing("files read", i+1, len(names))
		all = append(all, read[i]...)
	}
	return all, err
}

// recorded is the run of a recording.
func (o *Options) recorded(ctx context.Context, g *given) ([]*compare.Run, error) {
	one := *o
	one.MaxLost, one.FailIf.Text, one.Merges = nil, "", true
	r, err := one.replay(g)
	if err != nil {
		return nil, err
	}
	defer r.closeBinary()
	if err := errors.Join(r.trace(ctx, io.Discard), ctx.Err()); err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	return []*compare.Run{{File: g.name, Summary: r.table.Summary, Funcs: r.view.(*view.Table).Rows(r.table)}}, nil
}

// addUp is report of several runs.
func (o *Options) addUp(all []*compare.Run) error {
	o.Merges, o.As = true, cmp.Or(o.As, "probe")
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
	err = o.Write(o.Env, o.files, func(out io.Writer) error { return o.View().WriteMerged(out, sum) })
	if err == nil && o.MaxLost != nil && sum.Lost > *o.MaxLost {
		err = cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", sum.Lost, *o.MaxLost))
	}
	return err
}
