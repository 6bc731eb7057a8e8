// Command ftgo counts and times the function calls of a running Go program. It only uses the kernel's
// uprobe_events: no BPF, no ptrace, no rebuilding, no restarting.
package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

func main() {
	// Sleep makes Go's runtime open its network poller. If that fails, the runtime ends the process, which must
	// happen before probes are in the kernel (netpollGenericInit in runtime/netpoll.go).
	time.Sleep(time.Nanosecond)
	ctx, stop := cli.SignalContext(os.Stderr)
	e := newEnv(os.Stdout, os.Stderr)
	e.DropPrivileges = doctor.Drop
	code := runCommand(ctx, e, os.Args[1:])
	os.Exit(cmp.Or(stop(), code))
}

// runCommand runs a command line, and returns the exit status. If ctx is done, it removes the probes and returns
// early.
func runCommand(ctx context.Context, e *cli.Env, args []string) int {
	err := dispatch(ctx, e, args)
	e.RemoveHeld()
	code, text := cli.ExitStatus(err)
	if code == cli.ExitKernel && !errors.Is(err, errDoctor) && !errors.Is(err, target.ErrForeign) {
		text += remedy(doctor.Diagnose())
	}
	if text != "" {
		e.Warn(text)
	}
	return code
}

// readerVar is the environment variable that tests set to "raw" to read all events as pages of the ring buffer.
const readerVar = "FTGO_READER"

// newEnv returns the environment of commands: data goes to stdout, and all messages to stderr.
func newEnv(stdout, stderr io.Writer) *cli.Env {
	same := func(f tracefs.Features) tracefs.Features { return f }
	return &cli.Env{Stdout: stdout, Stderr: stderr, Terminal: cli.IsTerminal(stderr), ReadRaw: os.Getenv(readerVar) == "raw", Adjust: same, CostFuncs: costFunctions, Release: releaseName()}
}

// aliases are other names of commands.
var aliases = map[string]string{"-h": "help", "--help": "help", "--version": "version", "recipes": "recipe"}

func dispatch(ctx context.Context, e *cli.Env, args []string) error {
	if len(args) == 0 {
		help(e.Stderr, commands(e))
		return cli.Usage("no command")
	}
	all, name := commands(e), cmp.Or(aliases[args[0]], args[0])
	switch {
	case name == cli.CompleteArg: // for completion scripts, not listed in the help
		return cli.Complete(e, all, args[1:])
	case name == "demo" && len(args) == 2 && args[1] == workloadArg:
		_, err := fmt.Fprintln(e.Stdout, runWorkload())
		return err
	}
	if c := cli.Find(all, name); c != nil {
		if !c.Changes {
			cli.RestoreSignals() // the command leaves nothing to remove in the kernel
		}
		return c.Main(ctx, e, all, args[1:])
	}
	return unknownCommand(all, name)
}

func unknownCommand(all []*cli.Command, name string) error {
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return cli.Usage("unknown command %q%s (see ftgo help)", name, printable.DidYouMean(name, slices.Values(names)))
}

// helpTexts contains the text above the flags in each command's help, and ftgo.txt, the list of commands.
//
//go:embed help
var helpTexts embed.FS

// commands returns all commands in the order of the help text.
func commands(e *cli.Env) []*cli.Command {
	all := []*cli.Command{
		topCommand(e), probeCommand(e), countCommand(e), traceCommand(e), watchCommand(e), heapCommand(e), coverCommand(e), goroutinesCommand(e), listCommand(e),
		exportCommand(e), scriptCommand(e), reportCommand(e), diffCommand(e), recipeCommand(e), demoCommand(e), doctorCommand(e), cleanCommand(e), cli.Completion(e),
		{Name: "version", Summary: "print the version", RunArgs: func(_ context.Context, args []string) error { return version(e, args) }},
		{Name: "help", Summary: "show this text, or the help of a command", RunArgs: func(_ context.Context, args []string) error { return helpCommand(e, args) }},
	}
	for _, c := range all {
		about, _ := helpTexts.ReadFile("help/" + c.Name + ".txt") // the command help has no file
		c.About = string(about)
	}
	return all
}

func help(w io.Writer, commands []*cli.Command) error {
	var list strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&list, "  %-10s %s\n", c.Name, c.Summary)
	}
	text, _ := helpTexts.ReadFile("help/ftgo.txt")
	_, err := fmt.Fprintf(w, string(text), list.String())
	return err
}

func helpCommand(e *cli.Env, args []string) error {
	all := commands(e)
	if len(args) == 0 {
		return help(e.Stdout, all)
	}
	if c := cli.Find(all, args[0]); c != nil && c.Name != "help" {
		return c.WriteHelp(e, true)
	}
	return unknownCommand(all, args[0])
}

const intervalHelp = "print a table every `SECONDS`"

func probeCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e, render.Folded, render.Pprof)
	return &cli.Command{
		Name: "probe", Summary: "count calls, and measure their rates and latencies", Changes: true,
		Groups:   o.Groups(o.Target.Define, o.DefineInterval(intervalHelp), o.DefineExtras, o.DefineTable, o.DefineStack("group calls by stack"), o.DefineFull(""), cli.Subset("", o.DefineFetch, "strlen"), o.DefinePair, cli.Subset("--from: ", o.DefineLines, "where")),
		ReadArgs: o.ReadArgs,
		Run: func(ctx context.Context) error {
			if o.Format == render.Folded || o.Format == render.Pprof {
				o.Stack = cmp.Or(o.Stack, uprobe.MaxStack)
			}
			return o.Observe(ctx, view.NewTable(o.View(), uprobe.Latency))
		},
	}
}

func countCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e)
	verbose := func(fs *cli.Flags) {
		fs.BoolVarP(&o.Verbose, "verbose", "v", false, "say whether only the processes of -p have probes, and why not")
	}
	return &cli.Command{
		Name: "count", Summary: "only count calls, the cheapest way", Changes: true,
		Groups:   o.Groups(o.Target.Define, o.DefineInterval(intervalHelp), o.DefineCount, verbose, o.DefineFull(""), cli.Subset("", o.DefineFetch, "strlen")),
		ReadArgs: o.ReadArgs,
		Run: func(ctx context.Context) error {
			if err := o.CheckFailIf(false, false, ""); err != nil {
				return err
			}
			mode := uprobe.Count
			switch {
			case o.UsesValues():
				mode = uprobe.Entries
			case !o.Filter.All() || o.Calls > 0:
				mode = uprobe.CountRecorded
			}
			return o.Observe(ctx, view.NewTable(o.View(), mode))
		},
	}
}

func traceCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e)
	o.Signatures = true
	return &cli.Command{
		Name: "trace", Summary: "write a line for each call: arguments, results, latency", Changes: true,
		Groups: o.Groups(o.Target.Define, o.DefinePair, cli.Subset("", o.DefineExtras, "with", "sched"), o.DefineStack("show the callers"), o.DefineLines, o.DefineFetch, o.DefineFull(", and values of any width"),
			func(fs *cli.Flags) { fs.Lookup("calls").Usage = "stop after `N` calls, or trees, and show no others" }),
		ReadArgs: o.ReadArgs,
		Run: func(ctx context.Context) error {
			o.FewFields = true
			return o.Observe(ctx, view.NewLines(o.View()))
		},
	}
}

// defaultAt are functions of the runtime that every active program calls all the time: the sleep of its monitor
// thread, and the scheduler.
var defaultAt = []string{"runtime.usleep", "runtime.schedule"}

func watchCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e)
	var at []string
	return &cli.Command{
		Name: "watch", Summary: "write package variables as they change", Changes: true,
		Groups: o.Groups(func(fs *cli.Flags) {
			fs.StringArrayVar(&at, "at", nil, "read the variables when `FUNC` is called (default runtime.usleep)")
		}, o.DefineInterval("read the variables every `SECONDS` (default 1 without --at)"), o.DefineFetch),
		ReadArgs: o.ReadArgs,
		Run: func(ctx context.Context) error {
			variables := o.Funcs
			if len(variables) == 0 {
				return listVariables(e, o)
			}
			if o.Funcs = at; len(at) == 0 {
				o.Funcs, o.AllowUnmatched = defaultAt, true
				o.Interval = cmp.Or(o.Interval, time.Second)
			}
			return o.Observe(ctx, view.NewVariables(o.View(), variables, o.Funcs))
		},
	}
}

func coverCommand(e *cli.Env) *cli.Command {
	c := session.Cover{Options: session.NewOptions(e)}
	return &cli.Command{
		Name: "cover", Summary: "write which functions run in production, as Go's cover profile", Changes: true,
		Groups: []cli.Group{
			c.DefineProcesses(e), c.Define, cli.Subset("", c.DefineRun, "duration", "ready-fd"), cli.Subset("", c.Target.Define, "regexp", "exclude"), c.DefineSymbols, c.DefineQuiet,
			cli.Subset("", c.DefineRecorder, "force"),
		},
		ReadArgs: c.ReadArgs, Run: c.Run,
	}
}

func scriptCommand(e *cli.Env) *cli.Command {
	s := session.Script{Options: session.NewOptions(e)}
	s.Signatures = true
	return &cli.Command{
		Name: "script", Summary: "write a shell script that records calls without ftgo",
		Groups: []cli.Group{
			s.Define, s.DefineProcesses(s.Env), binaryHelp, s.DefineSymbols, cli.Subset("", s.DefineRecorder, "buffer"), s.DefineStack("record the callers"),
		},
		ReadArgs: s.ReadArgs,
		Run:      func(context.Context) error { return s.Run() },
	}
}

func reportCommand(e *cli.Env) *cli.Command {
	o := session.NewOptions(e, render.Folded, render.Pprof)
	o.Signatures = true
	table, lines := o.DefineTable, o.DefineLines
	var files []string
	return &cli.Command{
		Name: "report", Summary: "show recordings and JSON, or the sum of several",
		Groups: []cli.Group{
			o.DefineReport, o.DefineSymbols, o.Output.Define, o.DefineFull(", and values of any width"), o.DefineQuiet, cli.Subset("", o.DefineRecorder, "max-lost"),
			cli.Subset("probe, count: ", table, "top", "sort", "by", "sum"), cli.Subset("probe: ", table, "hist"), cli.Subset("", table, "fail-if"),
			cli.Subset("trace: ", o.DefineRun, "calls"),
			cli.Subset("trace: ", lines, "where", "errors", "min", "slow", "tree", "depth", "timestamp", "format"),
		},
		ReadArgs: func(_ string, words, program []string) error {
			if files = words; len(words) == 0 || program != nil {
				return cli.Usage("report: takes FILE... (see ftgo report -h)")
			}
			return nil
		},
		DeferRules: func(hasTerm func(term string) bool) { o.HasTerm = hasTerm },
		Run:        func(ctx context.Context) error { return o.Report(ctx, files) },
	}
}

func diffCommand(e *cli.Env) *cli.Command {
	d := session.Diff{Options: session.NewOptions(e)}
	d.Signatures = true
	return &cli.Command{
		Name: "diff", Summary: "compare runs: which functions changed",
		Groups:   []cli.Group{d.Define, d.Output.Define, d.DefineFull(""), d.DefineQuiet},
		ReadArgs: d.ReadArgs,
		Run:      d.Run,
	}
}

// workloadArg is the argument that makes ftgo run the workload of the demo.
const workloadArg = "run-the-workload-of-the-demo"

func demoCommand(e *cli.Env) *cli.Command {
	c := probeCommand(e)
	readArgs := c.ReadArgs
	c.Name, c.Summary = "demo", "probe a workload built into ftgo itself"
	c.Groups = append(c.Groups, func(fs *cli.Flags) { _ = fs.Set("hist", "true") })
	c.ReadArgs = func(command string, words, program []string) error {
		if len(words) > 0 || program != nil {
			return cli.Usage("demo takes no BINARY, FUNC or PROGRAM (see ftgo demo -h)")
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return readArgs(command, append([]string{self}, workloadFuncs...), []string{self, "demo", workloadArg})
	}
	return c
}

func cleanCommand(e *cli.Env) *cli.Command {
	return &cli.Command{
		Name: "clean", Summary: "remove probes that killed runs left in the kernel", Changes: true,
		Run: func(context.Context) error {
			f, err := tracefs.Find()
			if errors.Is(err, tracefs.ErrNotMounted) {
				return nil // no leftovers without tracefs
			} else if err != nil {
				return cli.WithStatus(cli.ExitKernel, err)
			}
			e.SetTracefs(f)
			stop := e.Progress("removing leftovers")
			removed, err := f.Sweep()
			stop()
			for _, l := range removed {
				if _, werr := fmt.Fprintf(e.Stdout, "%s\tprocess %d\t%d probe events\n", l.Name, l.PID, l.Events); werr != nil {
					return werr
				}
			}
			return err
		},
	}
}

// release is the version that scripts/release sets at build time.
var release string

func version(e *cli.Env, args []string) error {
	if len(args) > 0 {
		return cli.Usage("version takes no arguments")
	}
	_, err := fmt.Fprintf(e.Stdout, "ftgo %s (%s)\n", releaseName(), runtime.Version())
	return err
}

func releaseName() string {
	v := release
	if info, ok := debug.ReadBuildInfo(); ok {
		v = cmp.Or(v, info.Main.Version)
	}
	return cmp.Or(v, "unknown")
}

func exportCommand(e *cli.Env) *cli.Command {
	o := session.NewExport(e)
	return &cli.Command{
		Name: "export", Summary: "hand counts and latencies to Prometheus or OpenTelemetry, for weeks", Changes: true,
		Groups: []cli.Group{
			o.Define, o.DefineScope, o.Target.Define, o.DefinePair, cli.Subset("--from: ", o.DefineLines, "where"), o.DefineQuiet, cli.Subset("", o.DefineRun, "duration", "ready-fd"), o.DefineInterval("read the numbers every `SECONDS` (default 0.25)"), cli.Subset("", o.DefineExtras, "sched"),
			cli.Subset("", o.DefineRecorder, "budget", "buffer", "force"),
			func(fs *cli.Flags) {
				fs.Lookup("duration").Usage = "stop after `SECONDS` (default: at a signal)"
			},
		},
		ReadArgs: o.ReadArgs,
		Run:      o.Run,
	}
}

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
			return o.Target.ReadArgs(command, words, false)
		},
		Run: func(ctx context.Context) error { return o.Top(ctx) },
	}
}
