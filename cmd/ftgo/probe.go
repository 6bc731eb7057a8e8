package main

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/uprobe"
)

const aboutProbe = `usage: ftgo probe [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo probe [flags] -p PID FUNC...

Show how often functions are called and how long their calls take. BINARY is a
Go program, running or not; ftgo probes every process of it, or only PID. With
-- PROGRAM, ftgo places its probes, runs PROGRAM, and stops when PROGRAM ends.
The standard output of PROGRAM then goes to standard error, unless -w is given.
`

const aboutCount = `usage: ftgo count [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo count [flags] -p PID FUNC...

Count the calls of functions. The kernel counts, so that nothing is recorded and
nothing can be lost. But its counters know no processes: with -p, --fork, --comm
or --per-pid, with -n, and before Linux 6.12, ftgo records every hit instead,
and reports how many were lost.
`

func probeCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env, render.Folded, render.Pprof)
	o.TimesCalls = true
	return &cli.Command{
		Name: "probe", Summary: "count calls, and measure their rates and latencies", Changes: true, About: aboutProbe,
		Groups: append(o.Groups(&o.Target), &o.Extras, &o.TableFlags, o.CallerFlags.Group("group calls by stack")),
		Words:  o.Words("probe"),
		Run:    func(ctx context.Context) error { return probe(ctx, e, o) },
	}
}

func probe(ctx context.Context, e *env, o *session.Options) error {
	if o.Stack == 0 && (o.Format == render.Folded || o.Format == render.Pprof) {
		o.Stack = uprobe.MaxStack
	}
	v := view.NewTable(o.View(), uprobe.Latency)
	if o.InKernel {
		return session.InKernel(ctx, &e.Env, o, v)
	}
	if err := o.FailIf.CheckKnown(true, o.Errors, "--errors"); err != nil {
		return err
	}
	return session.Observe(ctx, &e.Env, o, uprobe.Latency, v)
}

func countCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env)
	return &cli.Command{
		Name: "count", Summary: "only count calls, the cheapest way", Changes: true, About: aboutCount,
		Groups: append(o.Groups(&o.Target), view.CountFlags{TableFlags: &o.TableFlags}),
		Words:  o.Words("count"),
		Run:    func(ctx context.Context) error { return count(ctx, e, o) },
	}
}

func count(ctx context.Context, e *env, o *session.Options) error {
	if err := o.FailIf.CheckKnown(false, false, ""); err != nil {
		return err
	}
	mode := uprobe.Count
	if filter := o.Filter(); !filter.All() || o.PerPID || o.Calls > 0 {
		mode = uprobe.CountRecorded
	}
	return session.Observe(ctx, &e.Env, o, mode, view.NewTable(o.View(), mode))
}
