package view

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Lines writes a line for each call.
type Lines struct {
	stream
	calls     *render.CallWriter
	trees     *forest              // nil without --tree
	chrome    *render.ChromeWriter // nil but for -o chrome
	latest    uint64               // when a call was last seen to begin or end
	passed    uint64               // and when it had been as trees looked at the time, at idleSince or since then
	idleSince time.Time
	// inTrees: calls were written in trees, of which -n may have counted none.
	inTrees bool
	cut     struct{ trees, lines int } // that were written, without so many lines
	stacks  *engine.Stacks             // nil if nobody asked for them
	where   where.Expr
	funcs   map[*offsets.Func]*funcValues
	// unknown counts functions whose arguments are not known, by the reason.
	unknown map[string]int
	// undecided is the number of calls of which the filter could not tell.
	undecided uint64
	suggested int    // functions
	seen      uint64 // calls, of which some may be left out
}

// longestLine is how wide the line of a call may be on a wider terminal, in a file and in a pipe.
const longestLine = 200

// NewLines returns the view; an error is of --where.
func NewLines(o *Options) (v *Lines, err error) {
	v = &Lines{stream: stream{opt: o}, funcs: make(map[*offsets.Func]*funcValues), unknown: make(map[string]int)}
	if o.Lines.Where != "" {
		if v.where, err = where.Parse(o.Lines.Where); err != nil {
			return nil, cli.WithStatus(cli.ExitUsage, err)
		}
	}
	return v, nil
}

func (v *Lines) Needs() Needs {
	o := &v.opt.Lines
	entries, needs := o.Entries || v.opt.trees(), Needs{}
	if needs.Probes.Mode = uprobe.Latency; o.Entries {
		needs.Probes.Mode = uprobe.Entries
	}
	needs.Probes.Follow, needs.Values, needs.MarkInside = v.opt.trees(), v.values, v.opt.Inside != ""
	needs.Source.Entries, needs.Source.Steady = entries, entries
	return needs
}

func (v *Lines) Begin(s *Scene) error {
	v.begin(s)
	o := &v.opt.Lines
	opt := render.Options{Format: v.opt.Format, Times: o.Times, Processes: v.opt.Mixed(), Stacks: v.opt.Stack > 0, Sched: v.opt.Sched}
	if o.Template.Text != "" {
		var err error
		if opt.Line, err = render.ParseCallFormat(o.Template.Text, o.Template.Names); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
	}
	if v.opt.short() {
		opt.Width = min(cmp.Or(cli.Width(s.Out), longestLine), longestLine)
	}
	if !v.opt.Full {
		opt.Short = shortNames(s.Plan)
	}
	v.sayUnknown()
	v.calls = render.NewCallWriter(v.out, opt)
	if err := v.calls.Header(); err != nil {
		return err
	}
	if v.opt.Stack > 0 {
		v.stacks = engine.NewStacks(s.Target.Binary)
	}
	if v.opt.Format == render.Chrome {
		v.chrome = render.NewChromeWriter(v.out, cmp.Or(s.Recorded, time.Now()))
	}
	if v.opt.trees() {
		v.trees = newForest(o.Depth, v.writeTree)
		v.trees.patience = cmp.Or(v.opt.Patience, v.trees.patience)
		if o.Slow > 0 {
			v.trees.slow, v.trees.total = o.Slow, maxSlow
			if v.chrome != nil {
				v.chrome.Marks = true
			}
		}
	}
	return nil
}

// sayUnknown says why arguments are not known.
func (v *Lines) sayUnknown() {
	for reason, n := range v.unknown {
		v.Env.Say("arguments of %s %s; %s", printable.Plural(n, "function"), reason, giveTypes)
	}
}

// Take writes lines of what has happened.
func (v *Lines) Take(it *pairing.Item) error {
	switch it.What {
	case pairing.Began:
		return v.began(it.Call)
	case pairing.Ended:
		return v.ended(it.Call)
	case pairing.Go:
		v.latest = max(v.latest, it.Goroutine.At)
		if v.trees != nil {
			return v.trees.goroutine(it.Goroutine, v.Clock.Wall(it.Goroutine.At))
		}
	case pairing.Kernel:
		return v.kernel(it.Event)
	case pairing.Gone:
		if v.memory.Forget(it.PID); v.trees != nil {
			return v.trees.processEnded(it.PID)
		}
	case pairing.Read:
		if err := v.passTime(); err != nil {
			return err
		}
		return v.flush()
	}
	return nil
}

func (v *Lines) began(c *pairing.Call) error {
	v.latest = max(v.latest, c.Start)
	if v.opt.Lines.Entries {
		v.see(c)
	}
	switch {
	case v.trees != nil && v.concerns(c):
		return v.trees.begin(c, v.Plan.Funcs[c.Func].Name, v.Clock.Wall(c.Start))
	case v.trees != nil:
		return nil
	}
	return v.write(v.line(c, false))
}

func (v *Lines) ended(c *pairing.Call) error {
	v.latest = max(v.latest, c.End)
	v.see(c)
	line := v.line(c, true)
	if v.trees != nil {
		return v.trees.end(c, line, v.Clock.Wall(v.latest))
	}
	return v.write(line)
}

// see counts a call of those that were asked for.
func (v *Lines) see(c *pairing.Call) {
	if !v.Target.Roles[v.Plan.Funcs[c.Func].Func].Hidden {
		v.seen++
	}
}

// write writes a line, unless it is nil.
func (v *Lines) write(line *render.Line) error {
	if line == nil {
		return nil
	}
	if err := v.calls.Line(line); err != nil {
		return err
	}
	return v.wrote(1)
}

func (v *Lines) kernel(ev *pairing.KernelEvent) error {
	if v.opt.Inside != "" && !v.isInside(ev.Call) {
		return nil
	}
	line := &render.Line{
		Time: v.Clock.Wall(ev.Time), Event: v.Events[ev.Format],
		Known: ev.Known, Thread: render.Thread{Goid: ev.Goid, PID: ev.PID, TID: ev.TID, CPU: ev.CPU}, Fields: ev.Fields(),
	}
	if ev.Call != nil {
		line.Function = v.Plan.Funcs[ev.Call.Func].Name
	}
	if v.trees != nil {
		if taken, err := v.trees.happened(line, ev.Call != nil); taken || v.opt.Lines.Slow > 0 {
			return err
		}
	}
	if v.chrome != nil {
		return v.chrome.Event(line)
	}
	return v.calls.Line(line)
}

// isInside tells whether a thread in a call, or in none that is known, was inside of what --inside names.
func (v *Lines) isInside(c *pairing.Call) bool {
	return c != nil && (c.Inside || v.Target.Roles[v.Plan.Funcs[c.Func].Func].Inside)
}

// concerns tells whether a call is where calls are looked at.
func (v *Lines) concerns(c *pairing.Call) bool {
	return !v.Target.Roles[v.Plan.Funcs[c.Func].Func].Hidden && (v.opt.Inside == "" || c.Inside)
}

// line makes the line of a call; nil if it is not wanted.
func (v *Lines) line(c *pairing.Call, ended bool) *render.Line {
	o := &v.opt.Lines
	f := &v.Plan.Funcs[c.Func]
	if !v.concerns(c) || v.trees == nil && o.Depth > 0 && c.Depth >= o.Depth {
		return nil
	}
	fl := v.funcs[f.Func]
	var seen *seenCall
	if fl == nil || v.trees != nil {
		seen = &seenCall{}
	} else {
		seen = &fl.once
	}
	line, args, results := &seen.line, seen.line.Args[:0], seen.line.Results[:0]
	*line = render.Line{
		Function: f.Name, Thread: render.ThreadOf(c),
		Depth: c.Depth, Time: v.Clock.Wall(c.Start),
	}
	if ended {
		if line.End = c.Outcome.String(); c.Outcome == pairing.Abandoned {
			line.End = "lost"
		}
		if c.Outcome != pairing.Open {
			line.Ended = line.Time.Add(v.Clock.Took(c))
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
	if fl == nil {
		return v.withStack(line, c) // a single instruction has no arguments
	}
	line.ArgsNote = fl.note
	seen.funcValues, seen.entry, seen.ret = fl, nil, nil
	p := v.memory.Process(c)
	if f.Values.Entry != nil && c.Args != nil {
		args = f.Values.Entry.Append(args, c.Args, p)
		shown := len(args) - len(fl.atEntry)
		line.Args, seen.entry = args[:shown], args[shown:]
	}
	if f.Values.Return != nil && c.Results != nil {
		results = f.Values.Return.Append(results, c.Results, p)
		shown := len(results) - len(fl.atReturn)
		line.Results, seen.ret = results[:shown], results[shown:]
	}
	last := line.Results
	if fl.errorBeside {
		last = seen.ret
	}
	if o.Errors && ended && !isError(last) {
		return nil
	}
	switch fl.rest.Eval(seen) {
	case where.False:
		return nil
	case where.Unknown:
		v.undecided++
		return nil
	}
	return v.withStack(line, c)
}

// withStack adds the callers, where they were asked for.
func (v *Lines) withStack(line *render.Line, c *pairing.Call) *render.Line {
	if v.stacks != nil {
		line.Stack = v.stacks.Callers(c, line.Function)
	}
	return line
}

// End writes what was held back, and how far it can be trusted.
func (v *Lines) End(t *engine.Table) error {
	if !v.enough() && v.trees != nil {
		if err := v.trees.passAll(); err != nil && !errors.Is(err, ErrEnough) {
			return err
		}
	}
	if v.chrome != nil {
		if err := v.chrome.Close(t.Summary); err != nil {
			return err
		}
	}
	if err := v.out.Flush(); err != nil {
		return err
	}
	v.warnLeftOut(t.Lost)
	if v.undecided > 0 {
		v.Env.Say("%s left out: a value that --where needs was not readable, not whole, or not there", printable.Plural(v.undecided, "call"))
	}
	if n := v.seen + t.Filtered; v.count == 0 && !v.inTrees && n > 0 && v.filters() != "" {
		v.Env.Say("no line: %s left out all of %s", v.filters(), printable.Plural(n, "call"))
	}
	if all, sampled := number(t.Whole); sampled && v.trees == nil {
		about := "about"
		if slices.ContainsFunc(t.Whole, func(r stats.Func) bool { return !r.Whole.Bounded() }) {
			about = "at least"
		}
		v.Env.Warn(fmt.Sprintf("%d of %s %s calls were traced, to keep the budget of %.4g%% (--budget 0 sets no limit)", v.seen, about, printable.Compact(all), 100*t.Budget))
	}
	t.AsSeen = !v.opt.Lines.Entries
	return conclude(v.Env, v.opt.Format, v.Out, t.Whole, t.Summary)
}

// stream is a view that writes lines. They are gathered for a moment: a write for each of a million
// calls would cost more than tracing them.
type stream struct {
	Ignore
	*Scene
	opt     *Options
	out     *bufio.Writer
	flushed time.Time
	memory  *engine.Memories
	count   uint64 // calls written
}

func (s *stream) begin(scene *Scene) {
	s.Scene = scene
	s.memory = engine.NewMemories(scene.Target.Binary, !scene.Recorded.IsZero())
	s.out = bufio.NewWriterSize(scene.Out, 64<<10)
}

// flushEvery is too short for people to notice.
const flushEvery = 50 * time.Millisecond

// flush writes what has been gathered if that was not done just now.
func (s *stream) flush() error {
	if s.out.Buffered() == 0 || time.Since(s.flushed) < flushEvery {
		return nil
	}
	s.flushed = time.Now()
	return s.out.Flush()
}

// enough tells whether as many calls as -n says were written.
func (s *stream) enough() bool { return s.opt.Calls > 0 && s.count >= s.opt.Calls }

// wrote counts calls, and ends the run when they are enough.
func (s *stream) wrote(calls uint64) error {
	if s.count += calls; s.enough() {
		return errors.Join(s.out.Flush(), ErrEnough)
	}
	return nil
}
