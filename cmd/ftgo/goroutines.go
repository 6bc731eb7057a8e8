package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// goroutines has the flags of the command goroutines.
type goroutines struct {
	*session.Options
	since, again time.Duration
}

func goroutinesCommand(e *cli.Env) *cli.Command {
	g := &goroutines{Options: session.NewOptions(e, render.Folded, render.Pprof, render.Text)}
	return &cli.Command{
		Name: "goroutines", Summary: "show all goroutines: states, stacks, leaks",
		Groups: []cli.Group{cli.Subset("", g.DefineProcesses(e), "pid", "container", "cgroup"), g.DefineSymbols, g.Output.Define, g.DefineQuiet, g.define},
		ReadArgs: func(command string, words, program []string) error {
			err := g.Target.ReadArgs(command, words, false)
			if err == nil && (len(g.Funcs)+len(program) > 0 || len(g.PIDs) != 1) {
				err = cli.Usage("goroutines: takes one process, -p PID, and no arguments but flags")
			}
			return err
		},
		Run: g.run,
	}
}

func (g *goroutines) define(fs *cli.Flags) {
	fs.Lookup("pid").Usage = "read the memory of process `PID`, or the one with this name"
	fs.Lookup("container").Usage = "take the process from container `ID`, or the one with this name"
	fs.Lookup("cgroup").Usage = "take the process from the control group `PATH`"
	cli.Define(fs, &g.since, "since", "", "show only goroutines that wait for at least `SECONDS`, or 1m", cli.Seconds)
	cli.Define(fs, &g.again, "again", "", "read again after `SECONDS`, and show the changes: a leak grows", cli.Seconds)
}

// run reads the goroutines, and writes them in the format of -o.
func (g *goroutines) run(ctx context.Context) error {
	if err := g.CheckProcesses(); err != nil {
		return err
	}
	stop := g.Env.Progress("reading " + g.Binary)
	defer stop()
	began, pid := time.Now(), g.PIDs[0]
	g.Live = true
	t, err := g.Query.Resolve(g.Env.Say)
	if err != nil {
		return err
	}
	defer t.Binary.Close()
	process, err := engine.OpenProcess(t.Binary, pid)
	if errors.Is(err, fs.ErrPermission) {
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%w: root, or CAP_SYS_PTRACE, may read it", err))
	} else if err != nil {
		return err
	}
	defer process.Close()
	all, err := engine.NewGoroutines(process)
	if err != nil {
		return err
	}
	s, err := all.Snapshot(int64(g.since))
	if err == nil && g.again > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(g.again):
		}
		earlier := s
		if s, err = all.Snapshot(int64(g.since)); err == nil {
			s.Compare(earlier)
		}
	}
	if err != nil {
		return err
	}
	stop()
	err = g.Write(g.Env, []string{g.Binary}, func(out io.Writer) error { return g.render(out, s.Groups, t.Binary, began) })
	if s.Unreadable > 0 {
		g.Env.Warn(fmt.Sprintf("incomplete: %s could not be read", printable.Plural(s.Unreadable, "goroutine")))
	}
	if s.Moving > 0 {
		g.Env.Say("%s ran during each reading: shown as running, without a stack", printable.Plural(s.Moving, "goroutine"))
	}
	if s.Hidden > 0 {
		g.Env.Say("%s of Go's runtime not shown", printable.Plural(s.Hidden, "goroutine"))
	}
	return err
}

func (g *goroutines) render(out io.Writer, groups []stats.Goroutines, b *offsets.Binary, began time.Time) error {
	switch style := g.StyleFor(out); style.Format {
	case render.Text:
		return render.GoroutineDump(out, groups)
	case render.Folded:
		return render.GoroutineFolded(out, groups)
	case render.Pprof:
		file := b.File()
		run := render.Profiled{Path: file.Path(), BuildID: file.BuildID(), Began: began}
		run.Start, run.Limit, run.Offset = file.Segment(b.Funcs()[0].Addr)
		return render.GoroutinePprof(out, groups, run)
	case render.Table:
		return render.GoroutineText(out, groups, style.Width)
	default:
		return render.GoroutineRows(out, style.Format, groups)
	}
}
