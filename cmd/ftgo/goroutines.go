package main

import (
	"context"
	"fmt"
	"io"
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
			if len(words)+len(program) > 0 {
				return cli.Usage("goroutines: takes one process, -p PID, and no arguments but flags")
			}
			return g.ReadProcess(command, words, program)
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
	stop := g.Env.Progress("reading " + g.Binary)
	defer stop()
	began := time.Now()
	process, err := g.OpenProcess()
	if err != nil {
		return err
	}
	defer process.Binary.Close()
	defer process.Close()
	all, err := engine.NewGoroutines(process)
	if err != nil {
		return err
	}
	s, err := all.Snapshot(int64(g.since), nil)
	if err == nil && g.again > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(g.again):
		}
		s, err = all.Snapshot(int64(g.since), s)
	}
	if err != nil {
		return err
	}
	stop()
	err = g.Write(g.Env, []string{g.Binary}, func(out io.Writer) error { return g.render(out, s.Groups, process.Binary, began) })
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
		return render.FoldedStacks(out, render.GoroutineStacks(groups), "")
	case render.Pprof:
		run := render.NewProfiled(b, b.Funcs()[0].Addr, began)
		run.Type = "goroutine"
		return render.PprofStacks(out, render.GoroutineStacks(groups), run)
	case render.Table:
		return render.GoroutineText(out, groups, style.Width)
	default:
		return render.GoroutineRows(out, style.Format, groups)
	}
}
