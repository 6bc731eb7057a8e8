package trace

import (
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Totals adds up the calls of each function and reconciles them with the readings of the source.
type Totals struct {
	plan        *uprobe.Plan
	opt         TotalsOptions
	funcs       []stats.Function // as in plan.Funcs
	pending     []pairing.Call   // that have ended before it was known what probes cost
	per         *perProcess      // rows of each process, nil if there is one of each function
	within      stats.NestedSums // of calls, for those that they were nested in
	steppedBack int              // the number of calls that have returned before they began, by the clock
	last        []stats.Function // at the end of the last interval
	lastAt      time.Time
}

// TotalsOptions are what else is to be added up.
type TotalsOptions struct {
	Clock      *Clock
	Costs      Costs   // of probes are taken off latencies
	Errors     bool    // what is fetched where calls return is whether that is an error
	PerProcess bool    // each process has rows of its own
	Stacks     *Stacks // if not nil, adds up calls by their callers
	Intervals  bool    // what has happened since the table before is wanted, too
	Ended      bool    // only calls that have ended are wanted
}

// NewTotals returns those of a plan, of nothing.
func NewTotals(plan *uprobe.Plan, opt TotalsOptions) *Totals {
	t := &Totals{plan: plan, opt: opt, within: stats.NewNestedSums(), funcs: make([]stats.Function, len(plan.Funcs))}
	for i := range plan.Funcs {
		f, planned := &t.funcs[i], &plan.Funcs[i]
		f.Name, f.Func = planned.Name, i
		if plan.Mode != uprobe.Latency {
			continue
		}
		f.Latency = &stats.Histogram{}
		f.ReturnsErrors = opt.Errors && planned.Values.Return != nil
		switch {
		case planned.Point && planned.Sites.Restarts:
			f.Note = "is one instruction, before the stack check: it is executed again when the stack grows"
		case planned.Sites.Restarts:
			f.Note = "loops back to its start: calls may be counted high"
		case planned.Point:
			f.Note = "is one instruction: how often it is executed is counted"
		case !planned.Returns:
			f.Note = "has no return: only its calls are counted"
		}
	}
	if opt.PerProcess {
		t.per = &perProcess{blank: slices.Clone(t.funcs), of: make(map[int]map[int]int)}
	}
	return t
}

// Counted takes the beginning of a call.
func (t *Totals) Counted(pid, fn int) {
	if t.per != nil {
		t.per.row(pid, fn).Calls++
	}
}

// Return takes a call that has ended.
func (t *Totals) Return(c *pairing.Call) {
	addOutcome(&t.funcs[c.Func], c)
	if t.per != nil {
		addOutcome(t.per.row(c.PID, c.Func), c)
	}
	t.time(c)
}

func addOutcome(f *stats.Function, c *pairing.Call) {
	switch c.Outcome {
	case pairing.Returned:
		f.Completed++
		if f.ReturnsErrors && len(c.Results) > 0 && c.Results[0] != 0 {
			f.Errors++
		}
	case pairing.Unwound:
		f.Unwound++
	case pairing.Open:
		f.Open++
	}
}

// ProcessEnded forgets a process, all of which was read.
func (t *Totals) ProcessEnded(pid int) {
	t.release()
	t.within.Forget(pid)
	if t.per != nil && pid != 0 {
		delete(t.per.of, pid)
	}
}

// Kernel takes a kernel event.
func (t *Totals) Kernel(ev *pairing.KernelEvent) {
	if ev.Where.Func < 0 {
		return
	}
	addEvent(&t.funcs[ev.Where.Func], ev)
	if t.per != nil {
		addEvent(t.per.row(ev.PID, ev.Where.Func), ev)
	}
}

func addEvent(f *stats.Function, ev *pairing.KernelEvent) {
	for len(f.Events) <= ev.Event {
		f.Events = append(f.Events, 0)
	}
	f.Events[ev.Event]++
}

// maxPending bounds Totals.pending: some MB, and as many calls as most programs make while the
// costs are measured.
const maxPending = 1 << 15

// time records how long a call took. It does not wait for the costs to be measured as long
// as it can do without: the ring buffer fills meanwhile. (Stacks are looked up at once, as
// long as the process is there.)
func (t *Totals) time(c *pairing.Call) {
	if t.opt.Stacks == nil && len(t.pending) < maxPending && !t.opt.Costs.Ready() {
		kept := *c
		kept.Waits = slices.Clone(c.Waits)
		t.pending = append(t.pending, kept)
		return
	}
	t.release()
	t.timeNow(c)
}

// release records the pending calls, and waits for the costs if there are any.
func (t *Totals) release() {
	for i := range t.pending {
		t.timeNow(&t.pending[i])
	}
	t.pending = nil
}

func (t *Totals) timeNow(c *pairing.Call) {
	var timing stats.Timing
	var self int64
	switch c.Outcome {
	case pairing.Returned:
		if c.End < c.Start {
			t.steppedBack++
		}
		var known bool
		timing, self, known = t.latency(c, t.opt.Clock.Took(c).Nanoseconds())
		t.funcs[c.Func].Time(timing, known)
		if t.plan.Sched {
			f := &t.funcs[c.Func]
			f.Split.Add(t.opt.Clock.Split(c, timing.Net))
			f.Waits = t.opt.Clock.AddWaits(f.Waits, c, t.plan.Reasons)
		}
		if t.per != nil {
			t.per.row(c.PID, c.Func).Time(timing, known)
		}
	case pairing.Unwound, pairing.Abandoned, pairing.Open: // a process that executes its file anew leaves calls open
		t.within.Take(c)
	}
	if t.opt.Stacks != nil {
		t.opt.Stacks.add(c, timing, self)
	}
}

// latency is how long a call took that was seen to take ns: net of what probes cost, that of
// its own begin and those of all that was nested in it. It is not less than what the nested
// calls took; self is without these. known is false if nothing is known of costs.
func (t *Totals) latency(c *pairing.Call, ns int64) (timing stats.Timing, self int64, known bool) {
	costs := t.opt.Costs.Take()
	known = costs != nil
	timing = stats.Timing{Raw: ns, Net: ns, High: ns}
	if known {
		timing.Net = costs.Typical.left(c, ns)
		timing.Low, timing.High = t.boundsBy(costs, c, ns)
	} else if t.opt.Stacks == nil {
		return timing, ns, false
	}
	nested := t.within.Take(c)
	timing.Net = max(timing.Net, nested)
	timing.High = max(timing.High, timing.Net)
	t.within.Add(c, timing.Net)
	return timing, timing.Net - nested, known
}

// Bounds are what a call took without probes that was seen to take ns, 0 if nothing is known
// by now of what these cost.
func (t *Totals) Bounds(c *pairing.Call, ns int64) (low, high int64) {
	if t.opt.Costs.Ready() {
		if costs := t.opt.Costs.Take(); costs != nil {
			return t.boundsBy(costs, c, ns)
		}
	}
	return 0, 0
}

func (t *Totals) boundsBy(costs *HitCosts, c *pairing.Call, ns int64) (low, high int64) {
	if low = costs.Most.left(c, ns); t.plan.BySP {
		low = 0 // it is not known what was nested in it
	}
	return low, costs.Least.left(c, ns)
}

// Table is what has happened up to a reading.
type Table struct {
	*Reading
	// Whole are rows of all of it, Since those of what has happened since the table before.
	Whole, Since []stats.Row
}

// At are the totals up to a reading.
func (t *Totals) At(r *Reading) *Table {
	funcs := r.Kept
	if funcs == nil {
		funcs = t.reconcile(r)
	}
	if !r.Last {
		for i := range funcs {
			// What is under way now is not lost, only not yet read.
			funcs[i].Lost, funcs[i].Open, funcs[i].Unfinished = 0, 0, 0
		}
	}
	table := &Table{Reading: r, Whole: make([]stats.Row, len(funcs))}
	for i, f := range funcs {
		table.Whole[i] = stats.NewRow(f, r.Seconds)
	}
	if t.opt.Intervals {
		table.Since = t.since(funcs, r)
	}
	if t.plan.Waits > 0 { // what nobody waited for is no function that nobody called
		none := func(row stats.Row) bool { return row.Func >= t.plan.Asked() && row.Calls == 0 }
		table.Whole, table.Since = slices.DeleteFunc(table.Whole, none), slices.DeleteFunc(table.Since, none)
	}
	if r.Last && r.Counts != nil {
		r.Probing = t.probing(r)
	}
	return table
}

// since are rows of what has happened since the reading before.
func (t *Totals) since(funcs []stats.Function, r *Reading) []stats.Row {
	if t.lastAt.IsZero() {
		t.lastAt = r.From
	}
	rows := make([]stats.Row, len(funcs))
	for i, f := range funcs {
		var before stats.Function
		if i < len(t.last) {
			before = t.last[i]
		}
		rows[i] = stats.NewRow(f.Since(before), r.At.Sub(t.lastAt).Seconds())
	}
	t.last, t.lastAt = t.last[:0], r.At
	for _, f := range funcs {
		t.last = append(t.last, f.Since(stats.Function{}))
	}
	return rows
}

// reconcile completes the functions' numbers from the counts of the stream: calls taken for
// unwound or open may only lack a return that was lost.
func (t *Totals) reconcile(r *Reading) []stats.Function {
	t.release()
	out := slices.Clone(t.funcs)
	for i := range out {
		f, c := &out[i], &r.Counts.Funcs[i]
		f.Calls, f.Unsure, f.CountedOnly = c.Calls, c.Unsure, c.Calls-c.Timed
		if r.TooOften != nil {
			f.TooOften = r.TooOften[i]
		}
		unwound := min(c.Missing, f.Unwound)
		f.Unwound -= unwound
		f.Open -= min(c.Missing-unwound, f.Open)
		if t.plan.Mode == uprobe.Latency && !t.plan.Funcs[i].Point {
			seen := f.Completed + f.Unwound + f.Open
			f.Lost = c.Timed - min(seen, c.Timed)
		}
	}
	if t.per != nil {
		out = t.per.reconcile(out)
	}
	for i := range out {
		f := &out[i]
		if f.Bounds != nil {
			f.Bounds.Waiting = r.Waited
		}
		if r.Last && t.opt.Ended && f.Latency != nil && !t.plan.Funcs[f.Func].Point { // else a call is all of its entry
			f.Calls, f.Open, f.Lost, f.CountedOnly = f.Completed+f.Unwound, 0, 0, 0
		}
	}
	return out
}

// probing is what probes have cost what is traced while the window was open, by the kernel's
// count of hits; nil if nothing is known of it.
func (t *Totals) probing(r *Reading) *stats.Probing {
	costs, counts := t.opt.Costs.Take(), r.Counts
	if costs == nil {
		return nil
	}
	p := &stats.Probing{
		Emulated: costs.Typical.Emulated, Stepped: costs.Typical.Stepped,
		NS: costs.Typical.Of(counts.Ours), Low: costs.Least.Of(counts.Ours), High: costs.Most.Of(counts.Ours),
		CPU: float64(r.Used),
	}
	p.Others = othersBeyond(costs.Typical.Of(counts.Others), p.NS, r.Pass.Seconds(), r.Seconds)
	for i := range counts.Funcs {
		p.Add(t.plan.Funcs[i].Name, costs.Typical.Of(counts.Funcs[i].Hits))
	}
	return p
}

// othersBeyond is what hits of other processes cost, beyond what may be the program's own: its
// hits while the kernel's counters are read, which takes pass at either end of the window, are
// counted but not delivered.
func othersBeyond(others, own, pass, window float64) float64 {
	if window <= 0 {
		return 0
	}
	return max(0, others-own*2*pass/window)
}

// SteppedBack is the number of calls that have returned before they began, by the clock.
func (t *Totals) SteppedBack() int { return t.steppedBack }
