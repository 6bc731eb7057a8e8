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

// commands in the order of the help text.
func commands(e *env) []*cli.Command {
	return []*cli.Command{
		probeCommand(e), countCommand(e), traceCommand(e), watchCommand(e), listCommand(e),
		scriptCommand(e), reportCommand(e), demoCommand(e), doctorCommand(e), cleanCommand(e), cli.Completion(&e.Env.Env),
		{Name: "version", Summary: "print the version", Plain: func(args []string) error { return version(e, args) }},
		{Name: "help", Summary: "show this text, or that of a command", Plain: func(args []string) error { return helpCommand(e, args) }},
	}
}

func help(w io.Writer, commands []*cli.Command) error {
	var b strings.Builder
	b.WriteString("usage: ftgo COMMAND [flags] BINARY FUNC... [-- PROGRAM ARGS...]\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Summary)
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

func helpCommand(e *env, args []string) error {
	if len(args) == 0 {
		return help(e.Stdout, commands(e))
	}
	if c := cli.Find(commands(e), args[0]); c != nil && c.Name != "help" {
		return c.Main(context.Background(), &e.Env.Env, []string{"-h"})
	}
	return cli.Usage("unknown command %q (see ftgo help)", args[0])
}

// release is the version of what scripts/release has built.
var release string

func version(e *env, args []string) error {
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
