package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse/recording"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// recordedOptions are the flags of script and report alone.
type recordedOptions struct {
	as     string
	kernel string
	binary string
	// replays: it is report. filters: of --where the kernel has done nothing.
	replays, filters bool
	// flags are those that were given.
	flags []string
}

// commandValue is the flag value of --as.
type commandValue struct{ name *string }

var recordable = []string{"probe", "count", "trace"}

func (v commandValue) String() string {
	if v.name == nil {
		return ""
	}
	return *v.name
}
func (v commandValue) Type() string      { return "COMMAND" }
func (v commandValue) Choices() []string { return recordable }
func (v commandValue) Set(text string) error {
	if !slices.Contains(recordable, text) {
		return fmt.Errorf("parse command %q: not probe, count or trace", text)
	}
	*v.name = text
	return nil
}

// defineScript defines the flags that decide what is recorded.
func (o *options) defineScript(e *env, fs *pflag.FlagSet) {
	o.recorded.as = "probe"
	fs.Var(commandValue{&o.recorded.as}, "as", "record what `COMMAND` needs: probe, count or trace")
	fs.StringVar(&o.recorded.kernel, "kernel", "", "record on Linux `VERSION`, as uname -r prints it (default 5.4 and later)")
	fs.VarP(seconds{&o.duration}, "duration", "d", "let the script stop after `SECONDS` by default")
	o.defineMatching(fs)
	fs.StringVarP(&o.outFile, "output-file", "w", "", "write the script to `FILE` instead of standard output")
	fs.Var(bufferValue{&e.bufferKB}, "buffer", "use ring buffers of `SIZE` per CPU (default 16M)")
	fs.BoolVar(&o.force, "force", false, "go on despite patterns that match nothing")
	fs.IntVar(&o.maxProbes, "max-probes", 0, "refuse to place more than `N` probes")
	fs.BoolVarP(&o.auto.quiet, "quiet", "q", false, "write only errors to standard error")
	o.defineStack(fs, "record who called: up to `DEPTH` callers, or 15")
	fs.BoolVar(&o.errors, "errors", false, "probe: record whether a call's last result was an error")
	fs.StringVar(&o.trace.where, "where", "", "trace: record only calls for which `EXPR` is true")
	fs.StringVar(&o.trace.inside, "inside", "", "trace: record only calls that `FUNC` makes, directly or not")
	fs.BoolVar(&o.trace.entries, "entries", false, "trace: record only how calls begin")
	o.trace.defineFetch(fs)
	o.signatures = true
}

// defineReport defines the flags that decide how it is shown.
func (o *options) defineReport(fs *pflag.FlagSet) {
	fs.Var(commandValue{&o.recorded.as}, "as", "show what `COMMAND` would: probe, count or trace (default what it was recorded for)")
	fs.StringVarP(&o.recorded.binary, "binary", "b", "", "read the traced binary at `PATH` (default where ftgo script read it)")
	fs.IntSliceVarP(&o.pids, "pid", "p", nil, "show only process `PID`")
	fs.VarP(formatValue{&o.format, reportFlags}, "output", "o", "write `FORMAT`: "+formatsOf(reportFlags))
	fs.StringVarP(&o.outFile, "output-file", "w", "", "write data to `FILE` instead of standard output")
	o.auto.defineTalk(fs)
	fs.Uint64Var(&o.maxLost, "max-lost", 0, "exit with status 5 if more than `N` events are lost")
	fs.IntVarP(&o.top, "top", "t", 0, "probe, count: show only the `N` functions with the most calls")
	fs.BoolVar(&o.hist, "hist", false, "probe: add a latency histogram of each function")
	o.auto.defineFailIf(fs, "'calls == 0 || p99 > 10ms'")
	fs.Uint64VarP(&o.calls, "calls", "n", 0, "trace: stop after `N` calls")
	fs.StringVar(&o.trace.where, "where", "", "trace: show only calls for which `EXPR` is true")
	fs.BoolVar(&o.trace.errors, "errors", false, "trace: show only calls whose last result is an error")
	fs.Var(seconds{&o.trace.min}, "min", "trace: show only calls that took `SECONDS` or longer, like 5ms")
	fs.Uint64Var(&o.trace.goid, "goid", 0, "trace: show only calls on goroutine `N`")
	fs.BoolVar(&o.trace.tree, "tree", false, "trace: show the calls of each goroutine as a tree")
	fs.IntVarP(&o.trace.depth, "depth", "D", 0, "trace: show calls nested less than `N` deep")
	fs.BoolVar(&o.trace.begins, "begins", false, "trace: write one line when a call begins and one when it ends")
	fs.BoolVar(&o.trace.startOrder, "start-order", false, "trace: write calls in the order in which they began")
	fs.BoolVarP(&o.trace.times, "timestamp", "T", false, "trace: begin lines with the time")
	fs.StringVar(&o.trace.template, "format", "", "trace: write lines by `TEMPLATE NAMES`: %d n")
	fs.StringVar(&o.trace.templateNames, "format-names", "", "")
	fs.MarkHidden("format-names")
	o.rawLatency = true
	o.signatures = true
}

// commandsOf are the commands that a flag of report means something to, if not to all.
var commandsOf = map[string][]string{
	"hist": {"probe"}, "top": {"probe", "count"}, "fail-if": {"probe", "count"},
	"calls": {"trace"}, "where": {"trace"}, "errors": {"trace"}, "min": {"trace"}, "goid": {"trace"}, "tree": {"trace"}, "depth": {"trace"},
	"begins": {"trace"}, "start-order": {"trace"}, "timestamp": {"trace"}, "format-names": {"trace"}, "format": {"trace"},
}

// recordingFile is the one argument of report.
func (o *options) recordingFile(fs *pflag.FlagSet) error {
	fs.Visit(func(f *pflag.Flag) { o.recorded.flags = append(o.recorded.flags, f.Name) })
	words := fs.Args()
	if len(words) != 1 {
		return cli.Usage("report: takes one FILE, or - for standard input (see ftgo report -h)")
	}
	for _, pid := range o.pids {
		if pid <= 0 {
			return cli.Usage("report: -p %d: not a process id", pid)
		}
	}
	o.binary = words[0]
	return nil
}

// optionsOf are those of the plan of a script.
func optionsOf(t *planned) recording.Options {
	o := t.opt
	a := recording.Options{
		Patterns: o.patterns, Regexp: o.regexp, Exclude: o.exclude, Errors: o.errors, Stack: o.stack,
		StrLen: o.trace.strLen, Items: o.trace.items, Where: o.trace.where, Inside: o.trace.inside, Entries: o.trace.entries, Features: t.features,
	}
	for i := range t.plan.Funcs {
		role := t.target.Roles[t.plan.Funcs[i].Func]
		for _, list := range []struct {
			is bool
			of *[]int
		}{{role.Named, &a.Named}, {role.Wrapper, &a.Wrappers}, {role.Inside, &a.InsideFuncs}, {role.Hidden, &a.OnlyInside}} {
			if list.is {
				*list.of = append(*list.of, i)
			}
		}
	}
	for _, s := range t.target.Skipped {
		a.Skipped = append(a.Skipped, [2]string{s.Function, s.Reason})
	}
	for _, s := range t.plan.Skipped {
		a.Skipped = append(a.Skipped, [2]string{s.Func.Name, s.Reason.Error()})
	}
	return a
}

// take makes options what they were; what a recording says chooses functions and values,
// and nothing else.
func (o *options) take(a *recording.Options) error {
	if o.trace.where != "" && a.Where != "" {
		return cli.Usage("report: --where: it was recorded with one already: %s", a.Where)
	}
	o.recorded.replays, o.recorded.filters = true, a.Where == ""
	o.patterns, o.regexp, o.exclude, o.errors, o.stack, o.force = a.Patterns, a.Regexp, a.Exclude, a.Errors, a.Stack, true
	o.trace.strLen, o.trace.items, o.trace.inside, o.trace.entries = cmp.Or(a.StrLen, 1), cmp.Or(a.Items, 1), a.Inside, a.Entries
	if a.Where != "" {
		o.trace.where = a.Where
	}
	return nil
}

// checkRecorded refuses options that no script records. They are no wrong usage of report.
func checkRecorded(a *recording.Options) error {
	fetch := traceOptions{strLen: cmp.Or(a.StrLen, 1), items: cmp.Or(a.Items, 1)}
	err := fetch.checkFetch("what was asked for")
	if err == nil && a.Where != "" {
		_, err = where.Parse(a.Where)
	}
	if err != nil {
		return fmt.Errorf("read recording: %v", err)
	}
	return nil
}

// recordedTarget is that of a recording's plan: the plan's own functions, without the binary.
func recordedTarget(a *recording.Options, plan *uprobe.Plan) *target.Target {
	t := &target.Target{Roles: make(map[*offsets.Func]target.Role)}
	mark := func(list []int, as func(*target.Role)) {
		for _, i := range list {
			if i >= 0 && i < len(plan.Funcs) {
				role := t.Roles[plan.Funcs[i].Func]
				as(&role)
				t.Roles[plan.Funcs[i].Func] = role
			}
		}
	}
	mark(a.Named, func(r *target.Role) { r.Named = true })
	mark(a.Wrappers, func(r *target.Role) { r.Wrapper = true })
	mark(a.InsideFuncs, func(r *target.Role) { r.Inside = true })
	mark(a.OnlyInside, func(r *target.Role) { r.Hidden = true })
	return t
}

// wholeFilter tells whether nothing of --where is for the kernel: what that drops is not
// there for others to be inside of.
func (o *options) wholeFilter(inside bool) bool {
	if o.recorded.replays {
		return inside || o.recorded.filters
	}
	return inside || o.trace.tree
}
