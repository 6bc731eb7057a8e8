package main

import (
	"context"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/uprobe"
)

const aboutWatch = `usage: ftgo watch [flags] BINARY VAR... [-- PROGRAM ARGS...]
       ftgo watch [flags] -p PID VAR...

Write package variables, or parts of them (main.counter, main.cfg.Limits.Max),
each time that the function of --at is called. With -i, or without --at, write
them once per interval, with the change per second; the probe is then in place
only for a moment of each interval.
`

// defaultAt are functions of the runtime that every program calls again and again as long
// as it does anything: the monitor's sleep, and the scheduler.
var defaultAt = []string{"runtime.usleep", "runtime.schedule"}

func watchCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env)
	return &cli.Command{
		Name: "watch", Summary: "write package variables as they change", Changes: true, About: aboutWatch,
		Groups: append(o.Groups(cli.Defines(func(fs *cli.Flags) {
			fs.StringArrayVar(&o.At, "at", nil, "read the variables when `FUNC` is called (default runtime.usleep)")
			fs.Lookup("interval").Usage = "read the variables every `SECONDS` (default 1 without --at)"
		})), &o.Fetch, cli.Some("", &o.TableFlags, "top"), cli.Hides("top")),
		Words: o.Words("watch"),
		Run:   func(ctx context.Context) error { return watch(ctx, e, o) },
	}
}

func watch(ctx context.Context, e *env, o *session.Options) error {
	wanted := o.Funcs
	if o.Funcs = o.At; len(o.At) == 0 {
		o.Funcs, o.Missing = defaultAt, true
		if o.Interval == 0 {
			o.Interval = time.Second
		}
	}
	return session.Observe(ctx, &e.Env, o, uprobe.Entries, view.NewVariables(o.View(), wanted, o.Funcs))
}
