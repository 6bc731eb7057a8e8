package main

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
)

func topCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e)
	return &cli.Command{
		Name: "top", Summary: "look through a running program on a full screen", Changes: true,
		Groups: []cli.Group{
			o.DefineProcesses(o.Env), o.Target.Define, o.DefineSymbols, o.Output.Define, o.DefineQuiet, o.DefineFull(""), o.DefineFetch, cli.Subset("", o.DefineRun, "duration", "ready-fd"),
			o.DefineInterval("show new numbers every `SECONDS` (default 1)"), cli.Subset("", o.DefineExtras, "sched"),
			cli.Subset("", o.DefineRecorder, "dry-run", "max-lost", "budget", "buffer", "force"),
		},
		ReadArgs: func(command string, words, _ []string) error {
			if len(words)+len(o.PIDs) == 0 && !o.Scope.Limited() {
				return nil
			}
			return o.Target.ReadArgs(command, words, false)
		},
		Run: func(ctx context.Context) error { return o.Top(ctx) },
	}
}
