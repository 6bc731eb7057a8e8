package view

import (
	"errors"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/offsets"
)

// Lines writes a line for each call.
type Lines struct {
	run.Ignore
	*run.Scene
	opt *Options
	// buffered is what lines are gathered in.
	buffered *flushWriter
	calls    *render.CallWriter
	order    startOrder
	trees    *callTrees           // nil without --tree
	chrome   *render.ChromeWriter // nil but for -o chrome
	latest   uint64               // when a call was last seen to begin or end
	memory   *trace.Memories
	stacks   *trace.Stacks // nil if nobody asked for them
	where    *where.Expr
	funcs    map[*offsets.Func]*funcLines
	// unknown counts functions whose arguments are not known, by the reason.
	unknown map[string]int
	counted lineCounts
}

// lineCounts is what -n and the last words need.
type lineCounts struct {
	lines  uint64
	enough bool // of them
	// undecided is the number of calls of which the filter could not tell.
	undecided uint64
}

// funcLines is what makes lines of the calls of one function.
type funcLines struct {
	note   string
	filter *funcFilter
	// errorBeside: the last result is fetched for --errors, and not shown.
	errorBeside bool
}

// NewLines returns the view; an error is of --where.
func NewLines(o *Options) (*Lines, error) {
	v := &Lines{opt: o, funcs: make(map[*offsets.Func]*funcLines), unknown: make(map[string]int)}
	if o.Lines.Where != "" {
		expr, err := where.Parse(o.Lines.Where)
		if err != nil {
			return nil, cli.WithStatus(cli.ExitUsage, err)
		}
		v.where = &expr
	}
	return v, nil
}

func (v *Lines) Needs() run.Needs {
	o := &v.opt.Lines
	entries := o.Begins || o.Entries || o.StartOrder || o.Tree || v.opt.Format == render.Chrome
	return run.Needs{Entries: entries, Steady: entries, Inside: v.opt.Inside}
}

func (v *Lines) Begin(s *run.Scene) error {
	v.Scene = s
	v.memory = trace.NewMemories(s.Target.Binary, !s.Recorded.IsZero())
	v.buffered = newFlushWriter(s.Out)
	opt := render.CallOptions{
		Format: v.opt.Format, TwoLines: v.opt.Lines.Begins, Entries: v.opt.Lines.Entries, Times: v.opt.Lines.Times, Tree: v.opt.Lines.Tree,
		Processes: v.opt.Mixed, Stacks: v.opt.Stack > 0, Sched: v.opt.Sched,
	}
	if v.opt.Lines.Template.Text != "" {
		var err error
		if opt.Line, err = render.ParseCallFormat(v.opt.Lines.Template.Text, v.opt.Lines.Template.Names()); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
	}
	for reason, n := range v.unknown {
		v.Env.Say("arguments of %s %s; types can be given: 'main.get(key string, n int) (v string, err error)'", units.Plural(n, "function"), reason)
	}
	v.calls = render.NewCallWriter(v.buffered, opt)
	if v.opt.Header {
		if err := v.calls.Header(); err != nil {
			return err
		}
	}
	if v.opt.Stack > 0 {
		v.stacks = trace.NewStacks(s.Target.Binary)
	}
	if v.opt.Format == render.Chrome {
		origin := s.Recorded
		if origin.IsZero() {
			origin = time.Now()
		}
		v.chrome = render.NewChromeWriter(v.buffered, origin)
	}
	if v.opt.Lines.Tree && !v.opt.Lines.Begins || v.chrome != nil {
		v.trees = newCallTrees(v.opt.Lines.Depth, v.writeTree)
	}
	return nil
}

// Flush writes what has been gathered.
func (v *Lines) Flush() error { return v.buffered.flushLate() }

// ProcessEnded forgets the process.
func (v *Lines) ProcessEnded(pid int) { v.memory.Forget(pid) }

// Entry gets a call that begins.
func (v *Lines) Entry(c *parse.Call) error {
	v.latest = max(v.latest, c.Start)
	switch {
	case v.trees != nil:
		return v.branch(c)
	case v.opt.Lines.StartOrder:
		v.order.begin(c)
		return nil
	}
	line, ok := v.line(c, false)
	if !ok {
		return nil
	}
	return v.write(line)
}

// Return gets a call that has ended.
func (v *Lines) Return(c *parse.Call) error {
	v.latest = max(v.latest, c.End)
	line, ok := v.line(c, true)
	if !ok {
		line = nil
	}
	if v.trees != nil {
		return v.trees.end(c, line)
	}
	if v.opt.Lines.StartOrder {
		return v.order.end(c, line, ok, v.write)
	}
	if !ok {
		return nil
	}
	return v.write(line)
}

func (v *Lines) write(line *render.CallLine) error {
	if err := v.calls.Call(line); err != nil {
		return err
	}
	// Of begins and ends, the ends are what -n counts.
	if line.End == "" && !v.opt.Lines.Entries {
		return nil
	}
	if v.counted.lines++; v.opt.Calls > 0 && v.counted.lines >= v.opt.Calls {
		v.counted.enough = true
		return errors.Join(v.buffered.Flush(), run.ErrEnough)
	}
	return nil
}

// concerns tells whether a call is where calls are looked at.
func (v *Lines) concerns(c *parse.Call) bool {
	o := &v.opt.Lines
	return !v.Target.Roles[v.Plan.Funcs[c.Func].Func].Hidden && (o.Goid == 0 || c.Goid == o.Goid) && (!v.opt.Inside || c.Inside)
}

// line makes the line of a call; ok is false if it is not wanted.
func (v *Lines) line(c *parse.Call, ended bool) (line *render.CallLine, ok bool) {
	o := &v.opt.Lines
	f := &v.Plan.Funcs[c.Func]
	if !v.concerns(c) || v.trees == nil && o.Depth > 0 && c.Depth >= o.Depth {
		return nil, false
	}
	line = &render.CallLine{
		Function: f.Name, Goid: c.Goid, PID: c.PID, TID: c.TID, CPU: c.CPU, Depth: c.Depth,
		Time: v.Clock.Wall(c.Start),
	}
	if ended {
		line.End = c.Outcome.String()
		if c.Outcome != parse.Open {
			line.Ended = line.Time.Add(v.Clock.Took(c))
		}
		if c.Outcome == parse.Returned {
			line.NS = v.Clock.Took(c).Nanoseconds()
			line.Low, line.High = v.Totals.Bounds(c, line.NS)
			if v.opt.Sched {
				line.Split = v.Clock.Split(c, line.NS)
			}
		}
		if o.Min > 0 && (c.Outcome != parse.Returned || time.Duration(line.NS) < o.Min) {
			return nil, false
		}
	}
	fl := v.funcs[f.Func]
	if fl == nil {
		v.addStack(line, c)
		return line, true // a single instruction has no arguments
	}
	line.ArgsNote = fl.note
	seen := filteredCall{filter: fl.filter, line: line}
	p := v.memory.Process(c)
	if f.Values.Entry != nil && c.Args != nil {
		values := f.Values.Entry.Decode(c.Args, p)
		shown := len(values) - len(fl.filter.atEntry)
		line.Args, seen.entry = values[:shown], values[shown:]
	}
	if f.Values.Return != nil && c.Results != nil {
		values := f.Values.Return.Decode(c.Results, p)
		shown := len(values) - len(fl.filter.atReturn)
		line.Results, seen.ret = values[:shown], values[shown:]
	}
	if o.Errors && ended {
		results := line.Results
		if fl.errorBeside {
			results = seen.ret
		}
		if !isError(results) {
			return nil, false
		}
	}
	if v.where != nil {
		switch fl.filter.rest.Eval(&seen) {
		case where.False:
			return nil, false
		case where.Unknown:
			if ended || o.Entries {
				v.counted.undecided++
				return nil, false
			}
		}
	}
	v.addStack(line, c)
	return line, true
}

// addStack adds the callers, where they were asked for; a line of a call's end has none if
// its begin has them.
func (v *Lines) addStack(line *render.CallLine, c *parse.Call) {
	if v.stacks != nil && (line.End == "" || !v.opt.Lines.Begins) {
		line.Stack = v.stacks.Callers(c, line.Function)
	}
}

// End writes what was held back, and how far it can be trusted.
func (v *Lines) End(t *trace.Table) error {
	if t == nil {
		return nil
	}
	if !v.counted.enough {
		if err := v.order.flush(v.write); err != nil && !errors.Is(err, run.ErrEnough) {
			return err
		}
	}
	if v.chrome != nil {
		if err := v.chrome.Close(t.Summary); err != nil {
			return err
		}
	}
	if err := v.buffered.Flush(); err != nil {
		return err
	}
	if v.trees != nil && v.trees.leftOut > 0 {
		v.Env.Warn(units.Plural(v.trees.leftOut, "call") + " left out of what is shown: too many others were open when they began")
	}
	if v.counted.undecided > 0 {
		v.Env.Say("%s left out: a value that --where needs was not readable, not whole, or not there", units.Plural(v.counted.undecided, "call"))
	}
	if v.opt.Format == render.JSON {
		return render.SummaryJSON(v.Out, t.Summary)
	}
	t.AsSeen = !v.opt.Lines.Entries
	return footer(v.Env, t.Whole, t.Summary)
}
