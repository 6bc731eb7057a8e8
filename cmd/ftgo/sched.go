package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// defineSched defines the flag that asks for the split of latencies.
func (o *options) defineSched(fs *pflag.FlagSet) {
	fs.BoolVar(&o.sched, "sched", false, "split latencies into running, runnable and waiting; each state change costs a hit")
}

// checkSched refuses what does not go with it.
func (o *options) checkSched() error {
	switch {
	case !o.sched:
		return nil
	case o.trace.entries:
		return cli.Usage("--sched divides latencies: not with --entries")
	case o.trace.template != "":
		return cli.Usage("--format has no names for the parts of latencies: not with --sched")
	case o.format == render.Folded || o.format == render.Pprof:
		return cli.Usage("--sched is not for -o %s", o.format)
	case len(o.pids) == 0 && len(o.program) == 0 && !o.dryRun:
		return cli.Usage("--sched takes -p PID, or -- PROGRAM: what threads were doing before their process is known can't be told")
	}
	return nil
}

// schedStatus gives a plan's refusal to follow goroutines its exit status.
func schedStatus(err error) error {
	if errors.Is(err, uprobe.ErrNoSched) {
		return cli.WithStatus(cli.ExitNothing, err)
	}
	return err
}
