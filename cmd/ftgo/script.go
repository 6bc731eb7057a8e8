package main

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
)

const aboutScript = `usage: ftgo script [flags] BINARY FUNC...

Write a shell script that records calls on a machine without ftgo. The script
needs root and a shell like dash or busybox, and nothing else. It checks that it
finds the same binary, prints a recording, and removes its probes however it
ends. A flag whose text begins with a command's name is for that --as only.

  ftgo script ./server main.handle >rec.sh
  sh rec.sh -d 10 >rec        there; sh rec.sh -h tells more
  ftgo report rec             here
`

func scriptCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env)
	o.Signatures = true
	return &cli.Command{
		Name: "script", Summary: "write a shell script that records calls where there is no ftgo", About: aboutScript,
		Groups: []cli.Group{
			cli.Defines(o.DefineScript), &o.Target, cli.Some("", &o.Recorder, "buffer", "max-probes"), o.CallerFlags.Group("record who called"), &o.Fetch,
		},
		Words: o.Words("script"),
		Run:   func(context.Context) error { return session.Script(&e.Env, o) },
	}
}
