package session

import (
	"cmp"
	"fmt"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/recording"
)

// RecordedFlags are the flags of script and report alone.
type RecordedFlags struct {
	As     string
	kernel string
	binary string
	// replays: it is report. filters: of --where the kernel has done nothing.
	replays, filters bool
	// Given tells what terms of rules are true of the command line of report.
	Given func(term string) bool
}

// recordable are the commands that a recording can be for.
var recordable = []string{"probe", "count", "trace"}

var recordFor = cli.OneOf("COMMAND", "command", "not probe, count or trace", recordable...)

// DefineScript defines the flags that decide what is recorded.
func (o *Options) DefineScript(fs *cli.Flags) {
	o.Recorded.As = "probe"
	cli.Define(fs, &o.Recorded.As, "as", "", "record what `COMMAND` needs: probe, count or trace", recordFor)
	fs.StringVar(&o.Recorded.kernel, "kernel", "", "record on Linux `VERSION`, as uname -r prints it (default 5.4 and later)")
	cli.Define(fs, &o.Duration, "duration", "d", "let the script stop after `SECONDS` by default", cli.Seconds)
	fs.StringVarP(&o.File, "output-file", "w", "", "write the script to `FILE` instead of standard output")
	fs.BoolVar(&o.Force, "force", false, "go on despite patterns that match nothing")
	fs.BoolVarP(&o.Talk.Env.Quiet, "quiet", "q", false, "write only errors to standard error")
	fs.BoolVar(&o.Errors, "errors", false, "probe: record whether a call's last result was an error")
	fs.StringVar(&o.Lines.Where, "where", "", "trace: record only calls for which `EXPR` is true")
	fs.StringVar(&o.Inside, "inside", "", "trace: record only calls that `FUNC` makes, directly or not")
	fs.BoolVar(&o.Lines.Entries, "entries", false, "trace: record only how calls begin")
}

// DefineReport defines the flags that decide how it is shown.
func (o *Options) DefineReport(fs *cli.Flags) {
	cli.Define(fs, &o.Recorded.As, "as", "", "show what `COMMAND` would: probe, count or trace (default what it was recorded for)", recordFor)
	fs.StringVarP(&o.Recorded.binary, "binary", "b", "", "read the traced binary at `PATH` (default where ftgo script read it)")
	fs.IntSliceVarP(&o.PIDs, "pid", "p", nil, "show only process `PID`")
}

// optionsOf are those of the plan of a script.
func optionsOf(t *planned) recording.Options {
	o := t.opt
	a := recording.Options{
		Patterns: o.Funcs, Regexp: o.Regexp, Exclude: o.Exclude, Errors: o.Errors, Stack: o.Stack,
		StrLen: o.Fetch.StrLen, Items: o.Fetch.Items, Where: o.Lines.Where, Inside: o.Inside, Entries: o.Lines.Entries, Features: t.features,
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
func (o *Options) take(a *recording.Options) error {
	if o.Lines.Where != "" && a.Where != "" {
		return cli.Usage("report: --where: it was recorded with one already: %s", a.Where)
	}
	o.Recorded.replays, o.Recorded.filters = true, a.Where == ""
	o.Funcs, o.Regexp, o.Exclude, o.Errors, o.Stack, o.Force = a.Patterns, a.Regexp, a.Exclude, a.Errors, a.Stack, true
	o.Fetch.StrLen, o.Fetch.Items, o.Inside, o.Lines.Entries = cmp.Or(a.StrLen, 1), cmp.Or(a.Items, 1), a.Inside, a.Entries
	if a.Where != "" {
		o.Lines.Where = a.Where
	}
	return nil
}

// checkRecorded refuses options that no script records. They are no wrong usage of report.
func checkRecorded(a *recording.Options) error {
	fetch := view.FetchFlags{StrLen: cmp.Or(a.StrLen, 1), Items: cmp.Or(a.Items, 1)}
	err := fetch.Check("what was asked for")
	if err == nil && a.Where != "" {
		_, err = where.Parse(a.Where)
	}
	if err != nil {
		return fmt.Errorf("read recording: %v", err)
	}
	return nil
}

// wholeFilter tells whether nothing of --where is for the kernel: what that drops is not
// there for others to be inside of.
func (o *Options) wholeFilter(inside bool) bool {
	if o.Recorded.replays {
		return inside || o.Recorded.filters
	}
	return inside || o.Lines.Tree
}
