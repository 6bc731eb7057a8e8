package main

import (
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/target"
)

// options are what a command is told that looks at a binary, by groups of flags.
type options struct {
	cli.Target
	cli.Output
	cli.Talk
	processFilter
	runEnds
	recorder
	extras
	view.TableFlags
	view.CallerFlags
	lines    view.LineFlags
	fetch    view.FetchFlags
	recorded recordedOptions
	// at is where watch reads variables.
	at      []string
	program []string
}

var tableFormats = []render.Format{render.Table, render.JSON, render.CSV, render.TSV}

func newOptions(e *env, formats ...render.Format) *options {
	o := &options{}
	o.Formats = slices.Concat(tableFormats, formats)
	o.Talk.Env = &e.Env
	o.bufferKB = &e.bufferKB
	return o
}

// sessionGroups are the flags of all commands that have a session; matching are those that say
// what patterns mean.
func (o *options) sessionGroups(matching cli.Group) []cli.Group {
	return []cli.Group{cli.Defines(o.DefineProcesses), &o.processFilter, &o.runEnds, matching, &o.Output, &o.Talk, &o.recorder}
}

// words returns what reads BINARY FUNC... -- PROGRAM.
func (o *options) words(command string) func(words, program []string) error {
	return func(words, program []string) error {
		o.program = program
		return o.Target.Words(command, words)
	}
}

// resolve finds the target.
func (o *options) resolve(e *env) (*target.Target, error) {
	// --fail-if is there, or may be given to report.
	o.Missing = o.Missing || o.force
	o.Wrappers = o.FailIf.Text != "" || o.recorded.as != ""
	return o.Query.Resolve(e.Say)
}

// mixed: several processes may be seen, so that lines must name them.
func (o *options) mixed() bool {
	return o.fork || len(o.PIDs) > 1 || len(o.PIDs) == 0 && len(o.program) == 0
}

// restricted: not all processes of the file are wanted.
func (o *options) restricted() bool { return len(o.PIDs) > 0 || o.fork || o.comm != "" }

// view are the options of views, as far as flags say.
func (o *options) view() *view.Options {
	return &view.Options{
		Env: o.Talk.Env, Format: o.Format, Header: bool(o.Header), Tables: o.TableFlags, Lines: o.lines, Fetch: o.fetch,
		Stack: o.Stack, Every: o.interval, Calls: o.calls, Sched: o.sched, Inside: o.Inside != "", Mixed: o.mixed(), Keys: len(o.program) == 0,
		Verbose: o.verbose, Whole: o.wholeFilter,
	}
}
