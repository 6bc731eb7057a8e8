package main

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/uprobe"
)

const aboutTrace = `usage: ftgo trace [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo trace [flags] -p PID FUNC...

Write a line for each call: goroutine, arguments, results, latency. FUNC may
name the values to show: 'main.get(key, req.URL.Path)'. Where the program has no
debug information, FUNC may say where they are:

  'main.get(key string, n int) (v string, err error)'  their types
  'main.get(key=goarg1:string)'                        their registers
  'main.get(k=+0(%ax):x64)'                            a fetcharg of the kernel
`

func traceCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env, render.Chrome)
	o.Signatures = true
	return &cli.Command{
		Name: "trace", Summary: "write a line for each call: arguments, results, latency", Changes: true, About: aboutTrace,
		Groups: append(o.Groups(&o.Target), &o.Extras, o.CallerFlags.Group("show who called"), &o.Lines, cli.Defines(o.DefineInside), &o.Fetch,
			// They are known to who knows probe, and refused with a word.
			cli.Some("", &o.TableFlags, "top"), cli.Hides("interval", "top")),
		Words: o.Words("trace"),
		Run:   func(ctx context.Context) error { return traceCalls(ctx, e, o) },
	}
}

func traceCalls(ctx context.Context, e *env, o *session.Options) error {
	v, err := view.NewLines(o.View())
	if err != nil {
		return err
	}
	mode := uprobe.Latency
	if o.Lines.Entries {
		mode = uprobe.Entries
	}
	return session.Observe(ctx, &e.Env, o, mode, v)
}
