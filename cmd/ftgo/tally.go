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
	costs *measuring   // nil if nothing is measured
	held  []parse.Call // calls that have ended before the costs were there
	// stacks, if not nil, adds up calls by their callers.
	stacks *stacks
	per    *perProcess // rows of each process, nil if there is one of each function
	// within are the latencies of calls, for those that they were nested in.
	within stats.NestedSums
	// untimed are calls of each function that probes were taken out under, tooOften the rates
	// that functions are left to counting for.
	untimed  []uint64
	tooOften []float64
	// backwards are calls that have returned before they began, by the clock.
	backwards int
}

// errors: what is fetched where calls return is whether that is an error.
func newTally(plan *uprobe.Plan, errors bool) *tally {
	t := &tally{plan: plan, within: stats.NewNestedSums(), funcs: make([]stats.Function, len(plan.Funcs)), untimed: make([]uint64, len(plan.Funcs)), tooOften: make([]float64, len(plan.Funcs))}
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
	if c.Outcome == parse.Untimed {
		t.untimed[c.Func]++
	}
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

// maxUntimed bounds tally.held: some MB, and as many calls as most programs make while the
// costs are measured.
const maxUntimed = 1 << 15

// time records how long a call took. It does not wait for the costs to be measured as long
// as it can do without: the ring buffer fills meanwhile. (Stacks are looked up at once, as
// long as the process is there.)
func (t *tally) time(c *parse.Call) {
	if t.stacks == nil && t.costs != nil && len(t.held) < maxUntimed && !t.costs.ready() {
		t.held = append(t.held, *c)
		return
	}
	t.release()
	t.timeNow(c)
}

// release records the calls that were held, and waits for the costs if there are any.
func (t *tally) release() {
	for i := range t.held {
		t.timeNow(&t.held[i])
	}
	t.held = nil
}

func (t *tally) timeNow(c *parse.Call) {
	var timing stats.Timing
	var self int64
	switch c.Outcome {
	case parse.Returned:
		if c.End < c.Start {
			t.backwards++
		}
		var known bool
		timing, self, known = t.latency(c, took(t.base, c).Nanoseconds())
		t.funcs[c.Func].Time(timing, known)
		t.split(c, timing.Net)
		if t.per != nil {
			t.per.row(c.PID, c.Func).Time(timing, known)
		}
	case parse.Unwound, parse.Untimed, parse.Open: // a process that executes its file anew leaves calls open
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

// hits is the kernel's count of a plan's probes, and what of it was delivered.
type hits struct {
	all, delivered uint64
	// kernel is the kernel's own count, in the time that all were armed.
	kernel uint64
	// counted are those of all that only count calls, countedSeen those of delivered, and
	// counters are per function.
	counted, countedSeen uint64
	counters             []uint64
	// entries, ends and endsSeen are per function of the plan.
	entries, ends, endsSeen []uint64
	// checks are lost hits at stack checks, which may have failed: then no call began.
	checks []uint64
}

// sumHits squares what the kernel had counted when the window began and at a later moment
// with what was delivered of that time. Unless something was lost, what is recorded was all
// delivered, and is cut where the time ends: the counters are read a moment later.
func sumHits(plan *uprobe.Plan, from, at [][]uint64, books *parse.Books, lost bool) hits {
	n := len(plan.Funcs)
	h := hits{checks: make([]uint64, n), counters: make([]uint64, n), entries: make([]uint64, n), ends: make([]uint64, n), endsSeen: make([]uint64, n)}
	for i := range plan.Events {
		ev := &plan.Events[i]
		for site := range ev.Sites {
			seen := books.Delivered[i][site]
			count := countSince(from, at, i, site, seen)
			h.kernel += count
			switch {
			case !plan.Records(ev):
				seen = count // the kernel's counter is all there is to deliver
			case !lost:
				count = seen
			}
			h.all += count
			h.delivered += seen
			fn := ev.Func(site)
			if ev.IsCounter() {
				h.counted += count
				h.countedSeen += seen
				h.counters[fn] += count
				continue
			}
			switch {
			case fn < 0:
			case ev.Kind(site).IsEntry():
				h.entries[fn] += count
				if ev.Kind(site) == uprobe.EntryJump {
					h.checks[fn] += count - seen
				}
			default:
				h.ends[fn] += count
				h.endsSeen[fn] += seen
			}
		}
	}
	return h
}

// countSince is what a counter has gained between two moments: at least what was seen of it,
// see tracefs.Features.ExactHits.
func countSince(from, at [][]uint64, event, site int, seen uint64) uint64 {
	count := countAt(at, event, site)
	return max(count-min(count, countAt(from, event, site)), seen)
}

// countAt is a counter as it was at a moment, 0 where it was not there yet.
func countAt(hits [][]uint64, event, site int) uint64 {
	if event < len(hits) {
		return hits[event][site]
	}
	return 0
}

// settle completes the functions' numbers from the kernel's: calls are counted by
// it, so that they are right whatever the stream has lost; and calls taken for
// unwound or open may only lack a return that was lost.
//
// own says that the kernel's counts are of the wanted processes alone.
func (t *tally) settle(h hits, books *parse.Books, own bool) []stats.Function {
	t.release()
	out := make([]stats.Function, len(t.funcs))
	for i := range t.funcs {
		f := t.funcs[i]
		if !own {
			f.Calls = books.Entries[i]
		} else {
			f.Calls = h.entries[i] - min(books.NoCalls[i], h.entries[i])
			f.Unsure = min(h.checks[i], f.Calls)
			missing := h.ends[i] - min(h.endsSeen[i], h.ends[i])
			missing -= min(t.untimed[i], missing) // no more is known of those
			unwound := min(missing, f.Unwound)
			f.Unwound -= unwound
			f.Open -= min(missing-unwound, f.Open)
		}
		timed := f.Calls
		if t.plan.Funcs[i].CountFirst {
			f.Calls, timed = t.counted(i, h, books, own)
			f.CountedOnly, f.TooOften = f.Calls-timed, t.tooOften[i]
		}
		if t.plan.Mode == uprobe.Latency && !t.plan.Funcs[i].Point {
			seen := f.Completed + f.Unwound + f.Open
			f.Lost = timed - min(seen, timed)
		}
		out[i] = f
	}
	if t.per != nil {
		return t.per.settle(out)
	}
	return out
}

// counted is how many calls of a function there were that is counted first, and how many
// of them were timed.
func (t *tally) counted(i int, h hits, books *parse.Books, own bool) (calls, timed uint64) {
	if own {
		calls = h.counters[i] - min(books.NoCalls[i], h.counters[i])
		timed = h.entries[i] - min(books.TimedNoCalls[i], h.entries[i])
	} else {
		calls, timed = books.Entries[i], books.Timed[i]
	}
	timed -= min(t.untimed[i], timed)
	return calls, min(timed, calls)
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
