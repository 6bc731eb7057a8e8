package session

import (
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
)

// Options are what a command is told that looks at a binary, by groups of flags.
type Options struct {
	cli.Target
	cli.Output
	cli.Talk
	ProcessFilter
	Ends
	Recorder
	Extras
	view.TableFlags
	view.CallerFlags
	Lines    view.LineFlags
	Fetch    view.FetchFlags
	Recorded RecordedFlags
	// At is where watch reads variables.
	At      []string
	Program []string
}

// NewOptions are without any flag, for a command that has more formats than others.
func NewOptions(e *Env, formats ...render.Format) *Options {
	o := &Options{}
	o.Formats = slices.Concat(cli.Rows, formats)
	o.Talk.Env = &e.Env
	o.BufferKB = &e.BufferKB
	return o
}

// Groups are the flags of all commands that have a session; matching are those that say
// what patterns mean.
func (o *Options) Groups(matching cli.Group) []cli.Group {
	return []cli.Group{cli.Defines(o.DefineProcesses), &o.ProcessFilter, &o.Ends, matching, &o.Output, &o.Talk, &o.Recorder}
}

// Words returns what reads BINARY FUNC... -- PROGRAM.
func (o *Options) Words(command string) func(words, program []string) error {
	return func(words, program []string) error {
		o.Program = program
		return o.Target.Words(command, words)
	}
}

// Resolve finds the target.
func (o *Options) Resolve(e *Env) (*target.Target, error) {
	// --fail-if is there, or may be given to report.
	o.Missing = o.Missing || o.Force
	o.Wrappers = o.FailIf.Text != "" || o.Recorded.As != ""
	return o.Query.Resolve(e.Say)
}

// Mixed: several processes may be seen, so that lines must name them.
func (o *Options) Mixed() bool {
	return o.Fork || len(o.PIDs) > 1 || len(o.PIDs) == 0 && len(o.Program) == 0
}

// Filter says which processes are wanted.
func (o *Options) Filter() trace.Filter {
	return trace.Filter{PIDs: o.PIDs, Fork: o.Fork, Comm: o.Comm}
}

// View are the options of views, as far as flags say.
func (o *Options) View() *view.Options {
	return &view.Options{
		Env: o.Talk.Env, Format: o.Format, Header: bool(o.Header), Tables: o.TableFlags, Lines: o.Lines, Fetch: o.Fetch,
		Stack: o.Stack, Every: o.Interval, Calls: o.Calls, Sched: o.Sched, Inside: o.Inside != "", Mixed: o.Mixed(), Keys: len(o.Program) == 0,
		Verbose: o.Verbose, Whole: o.wholeFilter,
	}
}
