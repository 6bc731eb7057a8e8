package engine

import (
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Totals adds up the calls of each function, and compares them with the counts in a [trace.Reading].
type Totals struct {
	// Set before Begin:
	Clock   *trace.Clock
	Costs   trace.Costs // the costs of probes, which are subtracted from latencies
	ByValue bool        // add a row for each value of a function's calls
	Amounts bool        // add up the amounts of calls
	// Observe returns the row of a call with ByValue, its amount, nil if that is not known, and whether it has failed. If
	// Observe is nil, a call has failed if its first fetched result is not 0.
	Observe   func(*pairing.Call) (row stats.RowKey, amount *int64, failed bool)
	KeptBy    string   // the weight of a row, ByCalls, ByTime or BySum: of too many rows those with the least are merged
	Stacks    *Stacks  // if not nil, Stacks also adds up the calls by their callers
	Intervals bool     // fill Since of readings, too
	Ended     bool     // count only calls that have ended, in the last reading
	Events    []string // names of the kernel events

	SteppedBack int // number of calls that ended before they began according to the trace clock

	plan   *uprobe.Plan
	funcs  []stats.Func          // indexed as plan.Funcs
	parts  *stats.ValueRows      // rows by value; nil if each function has one row
	nested map[uint64]nested     // by the ID of an open call
	last   map[uint64]stats.Func // rows at the end of the last interval, by Serial
	lastAt time.Time
}

// nested is the time of the calls nested directly in a call, and the time in which they were runnable without a CPU.
type nested struct{ time, runnable int64 }

// Values of Totals.KeptBy.
const (
	ByCalls = "calls"
	ByTime  = "time"
	BySum   = "sum"
)

// Begin starts the totals of a plan, without any call.
func (t *Totals) Begin(plan *uprobe.Plan) {
	t.plan, t.nested, t.funcs = plan, make(map[uint64]nested), make([]stats.Func, len(plan.Funcs))
	for i := range plan.Funcs {
		f, planned := &t.funcs[i], &plan.Funcs[i]
		f.Name, f.Func, f.Serial = planned.Name, i, uint64(i)
		if plan.Mode != uprobe.Latency {
			continue
		}
		f.Latency = &stats.Histogram{}
		f.ReturnsErrors = planned.Values.Fails
		switch {
		case planned.Point && planned.Restarts:
			f.Note = "is one instruction, before the stack check: it is executed again when the stack grows"
		case planned.Restarts:
			f.Note = "loops back to its start: calls may be counted high"
		case planned.Point:
			f.Note = "is one instruction: how often it is executed is counted"
		case !planned.Returns:
			f.Note = "has no return: only its calls are counted"
		}
	}
	if t.ByValue {
		t.parts = stats.NewValueRows(t.funcs)
	}
}

// Take adds an item of the source.
func (t *Totals) Take(it *pairing.Item) {
	switch it.Kind {
	case pairing.Began:
		t.began(it.Call)
	case pairing.Ended:
		t.ended(it.Call)
	case pairing.Kernel:
		if call := it.Event.Call; call != nil { // the event belongs to the call around it
			t.funcs[call.Func].AddEvent(t.Events[it.Event.Format], 1)
		}
	}
}

// began adds the value and the amount of a call that has begun, in a plan that does not observe the ends of calls.
func (t *Totals) began(c *pairing.Call) {
	if t.plan.Mode != uprobe.Entries || t.Observe == nil {
		return
	}
	key, amount, _ := t.Observe(c)
	t.addAmount(&t.funcs[c.Func], amount)
	if t.ByValue {
		row := t.parts.Row(key)
		t.addAmount(&row.Func, amount)
		t.count(row, amount, 0)
	}
}

// count adds a call to the row of its value. It adds at least 1 to the weight of the row, even if the call took no time: if
// another value replaces the row, its weight becomes the Missed of a new row, and only an exact row may have a Missed of 0.
func (t *Totals) count(row *stats.ValueRow, amount *int64, ns int64) {
	row.Calls++
	weight := int64(1)
	switch {
	case t.KeptBy == ByTime:
		weight = ns
	case t.KeptBy == BySum && amount != nil:
		weight = *amount
	}
	t.parts.AddWeight(row, uint64(max(weight, 1)))
}

// addAmount adds the amount of a call.
func (t *Totals) addAmount(f *stats.Func, amount *int64) {
	switch {
	case !t.Amounts:
		return
	case f.Amounts == nil:
		f.Amounts = &stats.Amounts{}
	}
	if amount != nil {
		f.Amounts.Record(*amount)
	} else {
		f.Amounts.Missing++
	}
}

// ended adds a call that has ended.
func (t *Totals) ended(c *pairing.Call) {
	var key stats.RowKey
	var amount *int64
	failed := len(c.Results) > 0 && c.Results[0] != 0
	if t.Observe != nil {
		key, amount, failed = t.Observe(c)
	}
	var timing stats.Timing
	var runnable int64
	if c.Outcome == pairing.Returned {
		if c.End < c.Start {
			t.SteppedBack++
		}
		timing, runnable = t.latency(c, t.Clock.Took(c).Nanoseconds())
	}
	delete(t.nested, c.ID)
	add := func(f *stats.Func) {
		t.addAmount(f, amount)
		t.addOutcome(f, c, failed, timing)
	}
	add(&t.funcs[c.Func])
	if t.ByValue {
		row := t.parts.Row(key)
		add(&row.Func)
		t.count(row, amount, timing.Net)
	}
	if s := t.Stacks; s != nil && len(c.Stack) > 0 {
		sum := int64(0)
		if amount != nil {
			sum = *amount
		}
		s.add(c, s.of(c), timing, runnable, sum)
	}
}

// addOutcome adds a call that has ended to a row. timing is used only if the call has returned.
func (t *Totals) addOutcome(f *stats.Func, c *pairing.Call, failed bool, timing stats.Timing) {
	switch c.Outcome {
	case pairing.Returned:
		f.Completed++
		f.Time(timing)
		if t.plan.Sched {
			f.Split.Add(t.Clock.Split(c, timing.Net))
			f.Waits = t.Clock.AddWaits(f.Waits, c, t.plan.Reasons)
		}
		if f.ReturnsErrors && failed {
			f.Errors++
		}
	case pairing.Unwound:
		f.Unwound++
	case pairing.Open:
		f.Open++
	}
}

// latency returns the latency of a call, and the part of Self in which its goroutine was runnable without a CPU. ns is the
// measured duration. latency subtracts the cost of the call's own probes and of the nested calls' probes, but the result
// is at least the time of the nested calls. Self is 0 if the costs are not known and Stacks is nil. runnable is 0 if
// Stacks is nil.
func (t *Totals) latency(c *pairing.Call, ns int64) (timing stats.Timing, runnable int64) {
	costs := t.Costs.Take()
	timing = stats.Timing{Raw: ns, Net: ns, High: ns, Known: costs != nil}
	if timing.Known {
		timing.Net = costs.Typical.Net(c, ns)
		timing.Low, timing.High = t.boundsBy(costs, c, ns)
	} else if t.Stacks == nil {
		return timing, 0
	}
	inner := t.nested[c.ID]
	timing.Net = max(timing.Net, inner.time)
	timing.High = max(timing.High, timing.Net)
	timing.Self = timing.Net - inner.time
	if t.plan.Sched && t.Stacks != nil {
		runnable = max(t.Clock.Split(c, timing.Net).Runnable, inner.runnable)
	}
	if c.Depth > 0 {
		outer := t.nested[c.Parent]
		t.nested[c.Parent] = nested{outer.time + timing.Net, outer.runnable + runnable}
	}
	return timing, min(runnable-min(inner.runnable, runnable), timing.Self)
}

// Bounds returns the bounds of the duration that a call would have without probes. ns is the measured duration. Both
// bounds are 0 if the costs of probes are not known.
func (t *Totals) Bounds(c *pairing.Call, ns int64) (low, high int64) {
	if costs := t.Costs.Take(); costs != nil {
		return t.boundsBy(costs, c, ns)
	}
	return 0, 0
}

func (t *Totals) boundsBy(costs *pairing.HitCosts, c *pairing.Call, ns int64) (low, high int64) {
	if low = costs.Most.Net(c, ns); t.plan.BySP {
		low = 0 // it is not known which calls were nested, so the cost of their probes has no upper bound
	}
	return low, costs.Least.Net(c, ns)
}
