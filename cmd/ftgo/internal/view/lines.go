package view

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Lines writes a line for each call, or trees of calls.
type Lines struct {
	stream
	calls      *render.CallWriter
	trees      *forest                    // nil without trees
	keeps      bool                       // the view keeps lines: trees do, and the slowest calls of a Closeup
	latest     uint64                     // the latest time stamp of a call or goroutine
	idleLatest uint64                     // the value of latest at the time idleSince
	idleSince  time.Time                  // when advanceTrees first found the value idleLatest
	inTrees    bool                       // a tree with calls was written; written does not count all trees
	incomplete struct{ trees, lines int } // trees that were written incompletely, and their missing lines
	stacks     *engine.Stacks             // nil without --stack
	unknown    map[string]int             // the number of functions with unknown arguments, by the reason
	traced     uint64                     // the number of calls of the selected functions, including calls that flags leave out
}

// longestLine is the largest width of a line in columns, on wide terminals as well as in files and pipes.
const longestLine = 200

// NewLines returns a view of lines.
func NewLines(o *Options) *Lines {
	return &Lines{stream: stream{common: common{opt: o, funcs: make(map[*offsets.Func]*funcValues)}}, unknown: make(map[string]int)}
}

func (v *Lines) Needs() Needs {
	o := v.opt
	entries, needs := o.Entries || o.Trees(), Needs{}
	if needs.Probes.Mode = uprobe.Latency; o.Entries {
		needs.Probes.Mode = uprobe.Entries
	}
	needs.Probes.Follow, needs.Values = o.Trees(), v.values
	needs.Source.Entries, needs.Source.Steady = entries, entries
	needs.Source.Key = v.pairKey
	return needs
}

func (v *Lines) Begin(s *Scene) error {
	v.begin(s)
	o := v.opt
	opt := render.LineOptions{Style: o.Style, Times: o.Times, Processes: o.ManyProcesses(), Stacks: o.Stack > 0, Sched: o.Sched}
	if o.Template != nil {
		var err error
		if opt.Template, err = render.ParseCallFormat(o.Template[0], o.Template[1:]); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
	}
	if v.opt.short() {
		opt.Width = min(cmp.Or(cli.Width(s.Out), longestLine), longestLine)
	}
	if !v.opt.Full {
		opt.Short = shortNames(s.Plan)
	}
	v.explainUnknown()
	v.calls = render.NewCallWriter(v.out, opt)
	if err := v.calls.Header(); err != nil {
		return err
	}
	if v.opt.Stack > 0 {
		v.stacks = engine.NewStacks(s.Target.Binary)
	}
	if o.Trees() {
		v.trees, v.keeps = newForest(o.Depth, v.writeTree), true
		v.trees.maxWait = cmp.Or(v.opt.TreeWait, v.trees.maxWait)
		if o.Slow > 0 {
			v.trees.slow, v.trees.total = o.Slow, maxSlow
		}
	}
	return nil
}

func (v *Lines) explainUnknown() {
	for reason, n := range v.unknown {
		v.Env.Say("arguments of %s %s; %s", printable.Plural(n, "function"), reason, giveTypes)
	}
}

// Take writes the line of a call or an event, or adds it to a tree.
func (v *Lines) Take(it *pairing.Item) error {
	switch it.Kind {
	case pairing.Began:
		return v.takeBegin(it.Call)
	case pairing.Ended:
		return v.takeEnd(it.Call)
	case pairing.Go:
		v.latest = max(v.latest, it.Goroutine.At)
		if v.trees != nil {
			return v.trees.goroutine(it.Goroutine, v.Clock.Wall(it.Goroutine.At))
		}
	case pairing.Kernel:
		return v.takeKernelEvent(it.Event)
	case pairing.Forgotten:
		if v.memory.Forget(it.PID); v.trees != nil {
			return v.trees.processEnded(it.PID)
		}
	case pairing.Read:
		if err := v.advanceTrees(); err != nil {
			return err
		}
		return v.out.Flush()
	}
	return nil
}

func (v *Lines) takeBegin(c *pairing.Call) error {
	v.latest = max(v.latest, c.Start)
	if v.opt.Entries {
		v.countTraced(c)
	}
	switch {
	case v.trees != nil && v.selects(c):
		return v.trees.begin(c, v.Plan.Funcs[c.Func].Name, v.Clock.Wall(c.Start))
	case v.trees != nil:
		return nil
	}
	return v.write(v.line(c, false))
}

func (v *Lines) takeEnd(c *pairing.Call) error {
	v.latest = max(v.latest, c.End)
	v.countTraced(c)
	line := v.line(c, true)
	if v.trees != nil {
		return v.trees.end(c, line, v.Clock.Wall(v.latest))
	}
	return v.write(line)
}

// countTraced counts a call in traced, unless it is only traced for --inside.
func (v *Lines) countTraced(c *pairing.Call) {
	if !v.Plan.Funcs[c.Func].Role.Hidden {
		v.traced++
	}
}

func (v *Lines) write(line *render.Line) error {
	if line == nil {
		return nil
	}
	if err := v.calls.Line(line); err != nil {
		return err
	}
	return v.addWritten(1)
}

func (v *Lines) takeKernelEvent(ev *pairing.KernelEvent) error {
	if c := ev.Call; v.opt.Inside != "" && (c == nil || !c.Inside && !v.Plan.Funcs[c.Func].Role.Inside) {
		return nil
	}
	line := &render.Line{
		Time: v.Clock.Wall(ev.Time), Event: v.Events[ev.Format],
		GoidKnown: ev.Known, Thread: render.Thread{Goid: ev.Goid, PID: ev.PID, TID: ev.TID, CPU: ev.CPU}, Fields: ev.Fields(),
	}
	if ev.Call != nil {
		line.Function = v.Plan.Funcs[ev.Call.Func].Name
	}
	if v.trees != nil {
		if taken, err := v.trees.kernelEvent(line, ev.Call != nil); taken || v.opt.Slow > 0 {
			return err
		}
	}
	return v.calls.Line(line)
}

// selects reports whether a call is of a selected function and passes --inside.
func (v *Lines) selects(c *pairing.Call) bool {
	return !v.Plan.Funcs[c.Func].Role.Hidden && (v.opt.Inside == "" || c.Inside)
}

// line returns the line of a call, nil if a flag leaves out the call. Unless keeps is true, the line is valid until the
// next call of the same function.
func (v *Lines) line(c *pairing.Call, ended bool) (line *render.Line) {
	o := v.opt
	f := &v.Plan.Funcs[c.Func]
	if !v.selects(c) || v.trees == nil && o.Depth > 0 && c.Depth >= o.Depth {
		return nil
	}
	fl := v.funcs[f.Func]
	if fl == nil || v.keeps {
		line = (&funcValues{}).line(c, f.Name)
	} else {
		line = fl.line(c, f.Name)
	}
	if line.Time = v.Clock.Wall(c.Start); ended {
		if line.End = c.Outcome.String(); c.Outcome == pairing.Abandoned {
			line.End = "lost"
		}
		if c.Outcome == pairing.Returned {
			line.NS = v.Clock.Took(c).Nanoseconds()
			line.Low, line.High = v.Totals.Bounds(c, line.NS)
			if v.opt.Sched {
				line.Split = v.Clock.Split(c, line.NS)
				line.Waits = v.Clock.AddWaits(nil, c, v.Plan.Reasons)
			}
		}
		if o.Min > 0 && (c.Outcome != pairing.Returned || time.Duration(line.NS) < o.Min) {
			return nil
		}
	}
	if fl != nil && !v.readValues(line, fl, c, f) { // a single instruction has no arguments
		return nil
	}
	if v.stacks != nil {
		line.Stack = v.stacks.Callers(c, line.Function)
	}
	return line
}

// readValues sets the arguments and results of a line. It returns false if --errors or --where leaves out the call.
func (v *Lines) readValues(line *render.Line, fl *funcValues, c *pairing.Call, f *uprobe.Probe) bool {
	fl.read(line, c, f, v.memory)
	last := line.Results
	if fl.errorHidden {
		last = line.HiddenResults
	}
	if v.opt.OnlyErrors && line.End != "" && !isError(last) {
		return false
	}
	return v.passes(fl.filter, line)
}

// End writes the remaining trees, prints notes about missing calls, and writes the summary.
func (v *Lines) End(t *trace.Reading) error {
	if !v.enough() && v.trees != nil {
		if err := v.trees.writeEnded(); err != nil && !errors.Is(err, ErrEnough) {
			return err
		}
	}
	if err := v.out.Flush(); err != nil {
		return err
	}
	v.warnLeftOut(t.Lost)
	v.sayUndecided()
	if n := v.traced + t.Filtered; v.written == 0 && !v.inTrees && n > 0 {
		v.Env.Say("no line: flags left out all of %s", printable.Plural(n, "call"))
	}
	if all := render.Sum(t.Whole).Estimate; all != nil && v.trees == nil {
		about := "about"
		if !all.Bounded() {
			about = "at least"
		}
		v.Env.Warn(fmt.Sprintf("%d of %s %s calls were traced, to keep the budget of %.4g%% (--budget 0 sets no limit)", v.traced, about, printable.Compact(all.Least()), 100*t.Budget))
	}
	t.RawLatencies = !v.opt.Entries
	return writeSummary(v.Env, v.opt.Format, v.Out, t.Whole, t.Summary)
}

// stream is the common part of views that write lines. It buffers the lines, because a system call for each of a million
// lines would take longer than tracing.
type stream struct {
	common
	out     *bufio.Writer
	written uint64 // the number of calls or trees that -n limits
}

func (s *stream) begin(scene *Scene) {
	s.common.begin(scene)
	s.out = bufio.NewWriterSize(scene.Out, 64<<10)
}

// Interval does nothing, because lines are written when calls happen.
func (s *stream) Interval(*trace.Reading) error { return nil }

// enough reports whether the limit of -n is reached.
func (s *stream) enough() bool { return s.opt.Calls > 0 && s.written >= s.opt.Calls }

// addWritten adds a number to written. At the limit of -n, it returns ErrEnough.
func (s *stream) addWritten(calls uint64) error {
	if s.written += calls; s.enough() {
		return errors.Join(s.out.Flush(), ErrEnough)
	}
	return nil
}
