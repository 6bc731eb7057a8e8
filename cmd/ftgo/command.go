package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// command is one subcommand.
type command struct {
	name, summary string
	probes        bool // it changes the kernel, and so must not just be ended
	run           func(ctx context.Context, e *env, args []string) error
}

// commands in the order of the help text.
func commands() []command {
	return []command{
		{"probe", "count calls, and measure their rates and latencies", true, probe},
		{"count", "only count calls, the cheapest way", true, count},
		{"trace", "write a line for each call: arguments, results, latency", true, traceCalls},
		{"watch", "write package variables as they change", true, watch},
		{"list", "list the functions that can be probed, and where", false, list},
		{"script", "write a shell script that records calls where there is no ftgo", false, script},
		{"report", "show a recording as probe, count or trace would have", false, replay},
		{"demo", "probe a workload built into ftgo itself", true, demo},
		{"doctor", "check whether probing works here, and what it costs", true, diagnose},
		{"clean", "remove what killed runs left in the kernel", true, clean},
		{"completion", "print a script for bash, zsh or fish to complete words", false, completion},
		{"version", "print the version", false, version},
		{"help", "show this text, or that of a command", false, helpCommand},
	}
}

func help(w io.Writer) error {
	var b strings.Builder
	b.WriteString("usage: ftgo COMMAND [flags] BINARY FUNC... [-- PROGRAM ARGS...]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.summary)
	}
	b.WriteString(`
FUNC is a name, main.(*Store).Get, or main.Store.Get, which needs no quotes;
a glob, 'net/http.*'; or, with -r, a regular expression.
ftgo help COMMAND lists a command's flags; man ftgo-COMMAND explains them.

  ftgo demo                                   see it work
  ftgo doctor                                 or why it does not
  ftgo list ./server 'main.*'                 what is there?
  ftgo probe ./server main.handle             how often, how long? Ctrl-C to end
  ftgo probe -p 1234 -d 10 'main.*'           ten seconds of a running process
  ftgo probe ./tool main.parse -- ./tool x    run a program and probe it
  ftgo probe --hist ./server main.handle      with a histogram
  ftgo trace ./server 'main.get(key, n)'      arguments and results of each call
  ftgo watch ./server main.counter            a variable, each second
  ftgo count -i 1 ./server 'net/http.*'       calls, every second
  ftgo probe -o json ./server main.handle     for scripts
  ftgo script ./server main.handle >rec.sh    where ftgo is not: sh rec.sh >rec
  ftgo report rec                             and back here
`)
	_, err := io.WriteString(w, b.String())
	return err
}

func helpCommand(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return help(e.Stdout)
	}
	for _, c := range commands() {
		if c.name == args[0] && c.name != "help" {
			return c.run(ctx, e, []string{"-h"})
		}
	}
	return cli.Usage("unknown command %q (see ftgo help)", args[0])
}

// release is the version of what scripts/release has built.
var release string

func version(_ context.Context, e *env, args []string) error {
	if len(args) > 0 {
		if args[0] == "-h" || args[0] == "--help" {
			_, err := io.WriteString(e.Stdout, "usage: ftgo version\n")
			return err
		}
		return cli.Usage("version takes no arguments")
	}
	_, err := fmt.Fprintf(e.Stdout, "ftgo %s (%s)\n", releaseName(), runtime.Version())
	return err
}

// releaseName is the version of this ftgo.
func releaseName() string {
	v := release
	if info, ok := debug.ReadBuildInfo(); ok {
		v = cmp.Or(v, info.Main.Version)
	}
	return cmp.Or(v, "unknown")
}
