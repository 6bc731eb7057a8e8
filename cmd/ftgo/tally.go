package main

import (
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// tally adds up the calls of each function, and squares them with the kernel's
// count of hits.
type tally struct {
	plan  *uprobe.Plan
	base  tracefs.Timebase
	funcs []stats.Function // as in plan.Funcs
	ended uint64
	// costs of probes are taken off latencies.
	costs   *measuring   // nil if nothing is measured
	pending []parse.Call // calls that have ended before the costs were there
	// stacks, if not nil, adds up calls by their callers.
	stacks *stacks
	per    *perProcess // rows of each process, nil if there is one of each function
	// within are the latencies of calls, for those that they were nested in.
	within stats.NestedSums
	// tooOften are the rates that functions are left to counting for.
	tooOften []float64
	// clockSteppedBack is the number of calls that have returned before they began, by the clock.
	clockSteppedBack int
}

// errors: what is fetched where calls return is whether that is an error.
func newTally(plan *uprobe.Plan, errors bool) *tally {
	t := &tally{plan: plan, within: stats.NewNestedSums(), funcs: make([]stats.Function, len(plan.Funcs)), tooOften: make([]float64, len(plan.Funcs))}
	for i := range plan.Funcs {
		f := &t.funcs[i]
		f.Name = plan.Funcs[i].Name
		if plan.Mode != uprobe.Latency {
			continue
		}
		f.Latency = &stats.Histogram{}
		f.ReturnsErrors = errors && plan.Funcs[i].Values.Return != nil
		if !plan.Funcs[i].Returns {
			f.Note = "has no return: only its calls are counted"
		}
		if plan.Funcs[i].Point {
			f.Note = "is one instruction: how often it is executed is counted"
		}
		switch {
		case plan.Funcs[i].Point && plan.Funcs[i].Sites.Restarts:
			f.Note = "is one instruction, before the stack check: it is executed again when the stack grows"
		case plan.Funcs[i].Sites.Restarts:
			f.Note = "loops back to its start: calls may be counted high"
		}
	}
	return t
}

// add takes a call that has ended.
func (t *tally) add(c *parse.Call) {
	t.ended++
	addOutcome(&t.funcs[c.Func], c)
	if t.per != nil {
		addOutcome(t.per.row(c.PID, c.Func), c)
	}
	t.time(c)
}

func addOutcome(f *stats.Function, c *parse.Call) {
	switch c.Outcome {
	case parse.Returned:
		f.Completed++
		if f.ReturnsErrors && len(c.Results) > 0 && c.Results[0] != 0 {
			f.Errors++
		}
	case parse.Unwound:
		f.Unwound++
	case parse.Open:
		f.Open++
	}
}

// addKernel takes a kernel event.
func (t *tally) addKernel(ev *parse.KernelEvent) {
	if ev.Where.Func < 0 {
		return
	}
	addEvent(&t.funcs[ev.Where.Func], ev)
	if t.per != nil {
		addEvent(t.per.row(ev.PID, ev.Where.Func), ev)
	}
}

func addEvent(f *stats.Function, ev *parse.KernelEvent) {
	for len(f.Events) <= ev.Event {
		f.Events = append(f.Events, 0)
	}
	f.Events[ev.Event]++
}

// maxPending bounds tally.pending: some MB, and as many calls as most programs make while the
// costs are measured.
const maxPending = 1 << 15

// time records how long a call took. It does not wait for the costs to be measured as long
// as it can do without: the ring buffer fills meanwhile. (Stacks are looked up at once, as
// long as the process is there.)
func (t *tally) time(c *parse.Call) {
	if t.stacks == nil && t.costs != nil && len(t.pending) < maxPending && !t.costs.ready() {
		t.pending = append(t.pending, *c)
		return
	}
	t.release()
	t.timeNow(c)
}

// release records the pending calls, and waits for the costs if there are any.
func (t *tally) release() {
	for i := range t.pending {
		t.timeNow(&t.pending[i])
	}
	t.pending = nil
}

func (t *tally) timeNow(c *parse.Call) {
	var timing stats.Timing
	var self int64
	switch c.Outcome {
	case parse.Returned:
		if c.End < c.Start {
			t.clockSteppedBack++
		}
		var known bool
		timing, self, known = t.latency(c, took(t.base, c).Nanoseconds())
		t.funcs[c.Func].Time(timing, known)
		t.split(c, timing.Net)
		if t.per != nil {
			t.per.row(c.PID, c.Func).Time(timing, known)
		}
	case parse.Unwound, parse.Abandoned, parse.Open: // a process that executes its file anew leaves calls open
		t.within.Take(c)
	}
	if t.stacks != nil {
		t.stacks.add(c, timing, self)
	}
}

// latency is how long a call took that was seen to take ns: net of what probes cost, that of
// its own begin and those of all that was nested in it. It is not less than what the nested
// calls took; self is without these. known is false if nothing is known of costs.
func (t *tally) latency(c *parse.Call, ns int64) (timing stats.Timing, self int64, known bool) {
	costs := t.hitCosts()
	known = costs != hitCosts{}
	timing = stats.Timing{Raw: ns, Net: ns, High: ns}
	if known {
		timing.Net = costs.typical.left(c, ns)
		timing.Low, timing.High = t.boundsBy(costs, c, ns)
	} else if t.stacks == nil {
		return timing, ns, false
	}
	nested := t.within.Take(c)
	timing.Net = max(timing.Net, nested)
	timing.High = max(timing.High, timing.Net)
	t.within.Add(c, timing.Net)
	return timing, timing.Net - nested, known
}

// bounds are what a call took without probes that was seen to take ns, 0 if nothing is known
// by now of what these cost.
func (t *tally) bounds(c *parse.Call, ns int64) (low, high int64) {
	if t.costs == nil || !t.costs.ready() {
		return 0, 0
	}
	costs := t.hitCosts()
	if costs == (hitCosts{}) {
		return 0, 0
	}
	return t.boundsBy(costs, c, ns)
}

func (t *tally) boundsBy(costs hitCosts, c *parse.Call, ns int64) (low, high int64) {
	if low = costs.most.left(c, ns); t.plan.BySP {
		low = 0 // it is not known what was nested in it
	}
	return low, costs.least.left(c, ns)
}

// hitCosts are what hits cost by now, as far as that is known. It waits until they are
// measured.
func (t *tally) hitCosts() hitCosts {
	if t.costs == nil {
		return hitCosts{}
	}
	return t.costs.take()
}

// settle completes the functions' numbers from the counts of the stream: calls taken for unwound or
// open may only lack a return that was lost.
func (t *tally) settle(counts []parse.Count) []stats.Function {
	t.release()
	out := make([]stats.Function, len(t.funcs))
	for i := range t.funcs {
		f, c := t.funcs[i], &counts[i]
		f.Calls, f.Unsure, f.CountedOnly, f.TooOften = c.Calls, c.Unsure, c.Calls-c.Timed, t.tooOften[i]
		unwound := min(c.Missing, f.Unwound)
		f.Unwound -= unwound
		f.Open -= min(c.Missing-unwound, f.Open)
		if t.plan.Mode == uprobe.Latency && !t.plan.Funcs[i].Point {
			seen := f.Completed + f.Unwound + f.Open
			f.Lost = c.Timed - min(seen, c.Timed)
		}
		out[i] = f
	}
	if t.per != nil {
		return t.per.settle(out)
	}
	return out
}

// onlyEnded leaves of each function the calls that have ended, of which -n wants so many.
func (t *tally) onlyEnded(rows []stats.Function) {
	for i := range rows {
		f := &rows[i]
		if f.Latency == nil || t.plan.Funcs[t.per.funcOf(i)].Point {
			continue // a call is all of its begin
		}
		f.Calls, f.Open, f.Lost, f.CountedOnly = f.Completed+f.Unwound, 0, 0, 0
	}
}
