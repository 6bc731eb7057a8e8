package main

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
)

func exportCommand(e *cli.Env) *cli.Command {
	o := session.NewExport(e)
	return &cli.Command{
		Name: "export", Summary: "hand counts and latencies to Prometheus or OpenTelemetry, for weeks", Changes: true,
		Groups: []cli.Group{
			o.Define, o.DefineScope, o.Target.Define, o.DefineQuiet, cli.Subset("", o.DefineRun, "duration", "ready-fd"), o.DefineInterval("read the numbers every `SECONDS` (default 0.25)"), cli.Subset("", o.DefineExtras, "sched"),
			cli.Subset("", o.DefineRecorder, "budget", "buffer", "force"),
			func(fs *cli.Flags) {
				fs.Lookup("duration").Usage = "stop after `SECONDS` (default: at a signal)"
			},
		},
		ReadArgs: o.ReadArgs,
		Run:      o.Run,
	}
}
