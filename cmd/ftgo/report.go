package main

import (
	"context"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
)

const aboutReport = `usage: ftgo report [flags] FILE

Show a recording, made by the script of ftgo script, as probe, count or trace
would have shown it. FILE may be -, standard input. This takes no root and no
kernel. Values, callers and --where need the binary; counts and latencies do
not. A flag whose text begins with a command's name is for its recordings only.
`

func reportCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env, render.Folded, render.Pprof, render.Chrome)
	o.RawLatency, o.Signatures = true, true
	return &cli.Command{
		Name: "report", Summary: "show a recording as probe, count or trace would have", About: aboutReport,
		Groups: []cli.Group{
			cli.Defines(o.DefineReport), &o.Output, &o.Talk, cli.Some("", &o.Recorder, "max-lost"),
			cli.Some("probe, count: ", &o.TableFlags, "top"), cli.Some("probe: ", &o.TableFlags, "hist"), cli.Some("", &o.TableFlags, "fail-if"),
			cli.Some("trace: ", &o.Ends, "calls"),
			cli.Some("trace: ", &o.Lines, "where", "errors", "min", "goid", "tree", "depth", "begins", "start-order", "timestamp", "format"),
		},
		Words: o.RecordingFile,
		Given: func(given func(term string) bool) { o.Recorded.Given = given },
		Run:   func(ctx context.Context) error { return session.Report(ctx, &e.Env, o) },
	}
}
