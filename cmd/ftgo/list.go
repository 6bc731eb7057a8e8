package main

import (
	"context"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/internal/printable"
)

// listVariables lists the variables of the program's own module that watch can show.
func listVariables(e *cli.Env, o *session.Options) error {
	switch {
	case len(o.Program) > 0:
		return cli.Usage("watch: no VAR (ftgo watch %s lists them)", printable.Text(o.Binary))
	case o.Format != render.Table:
		return cli.Usage("watch: -o %s needs VAR: the list of variables is a table", o.Format)
	}
	stop := e.Progress("reading " + o.Binary)
	variables, err := o.Query.Variables(e.Say)
	stop()
	if err != nil {
		return err
	}
	return o.Write(e, []string{o.Binary}, func(out io.Writer) error { return render.Variables(out, variables) })
}

func listCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e)
	return &cli.Command{
		Name: "list", Summary: "list the functions that can be probed, and where",
		Groups:   []cli.Group{o.DefineProcesses(o.Env), binaryHelp, o.Target.Define, o.DefineSymbols, o.Output.Define, o.DefineFull(", their parameters and results")},
		ReadArgs: o.ReadArgs,
		Run: func(context.Context) error {
			o.Signatures = o.Full
			stop := e.Progress("reading " + o.Binary)
			rows, err := o.List(e.Say, o.Signatures || o.Format != render.Table)
			stop()
			if err != nil {
				return err
			}
			return o.Write(e, []string{o.Binary}, func(out io.Writer) error { return render.List(out, rows, o.StyleFor(out)) })
		},
	}
}

func heapCommand(e *cli.Env) *cli.Command {
	h := session.Heap{Options: session.NewOptions(e, render.Folded, render.Pprof)}
	return &cli.Command{
		Name: "heap", Summary: "show which functions allocate, and what is in use",
		Groups: []cli.Group{
			cli.Subset("", h.DefineProcesses(e), "pid", "container", "cgroup"), cli.Subset("", h.Target.Define, "regexp", "exclude"), h.DefineSymbols, h.Define, h.Output.Define, h.DefineFull(""), h.DefineQuiet,
			func(fs *cli.Flags) { fs.Lookup("pid").Usage = "read process `PID`, or the one with this name" },
		},
		ReadArgs: h.ReadProcess,
		Run:      func(context.Context) error { return h.Run() },
	}
}

// binaryHelp changes the help of the process flags for commands that trace nothing.
func binaryHelp(fs *cli.Flags) {
	fs.Lookup("pid").Usage = "take BINARY from process `PID`, or the one with this name"
	fs.Lookup("all").Usage = "take it from any of several processes"
	fs.Lookup("container").Usage = "take it from container `ID`, or the one with this name"
	fs.Lookup("cgroup").Usage = "take it from the control group `PATH`"
}
