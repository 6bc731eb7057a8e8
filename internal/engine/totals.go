package engine

import (
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Totals adds up the calls of each function and reconciles them with the readings of the source.
type Totals struct {
	plan        *uprobe.Plan
	opt         TotalsOptions
	funcs       []stats.Func     // as in plan.Funcs
	pending     []observedCall   // that have ended before it was known what probes cost
	parts       *stats.Parts     // nil if each function has one row
	within      stats.NestedSums // of calls, for those that they were nested in
	runnable    stats.NestedSums // likewise, of their time of being runnable
	steppedBack int              // the number of calls that have returned before they began, by the clock
	last        []stats.Func     // at the end of the last interval
	lastAt      time.Time
}

// TotalsOptions are what else is to be added up.
type TotalsOptions struct {
	Clock   *trace.Clock
	Costs   trace.Costs // of probes are taken off latencies
	Errors  bool        // what is fetched where calls return is whether that is an error
	ByValue bool        // each value has rows of its own
	Amounts bool        // are added up
	// Observe tells the values and the amounts, and whether calls that have returned have failed, which
	// else the first of what is fetched there tells. Rows are kept for what is KeptBy.
	Observe   func(*pairing.Call) Observed
	KeptBy    string
	Stacks    *Stacks  // if not nil, adds up calls by their callers
	Intervals bool     // what has happened since the table before is wanted, too
	Ended     bool     // only calls that have ended are wanted
	Events    []string // the names of the kernel events that are told
}

// Observed is what a call has beside its function.
type Observed struct {
	Value  string // as in [stats.Func]
	Kind   stats.RowKind
	Amount int64
	Counts bool // Amount is known
	Failed bool
}

// What rows of values are kept for.
const (
	ByCalls = "calls"
	ByTime  = "time"
	BySum   = "sum"
)

type observedCall struct {
	pairing.Call
	Observed
}

// NewTotals returns those of a plan, of nothing.
func NewTotals(plan *uprobe.Plan, opt TotalsOptions) *Totals {
	t := &Totals{plan: plan, opt: opt, within: make(stats.NestedSums), runnable: make(stats.NestedSums), funcs: make([]stats.Func, len(plan.Funcs))}
	for i := range plan.Funcs {
		f, planned := &t.funcs[i], &plan.Funcs[i]
		f.Name, f.Func, f.Serial = planned.Name, i, uint64(i)
		if plan.Mode != uprobe.Latency {
			continue
		}
		f.Latency = &stats.Histogram{}
		f.ReturnsErrors = opt.Errors && planned.Values.Fails
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
	if opt.ByValue {
		t.parts = stats.NewParts(t.funcs)
	}
	return t
}

// Take takes what has happened.
func (t *Totals) Take(it *pairing.Item) {
	switch it.What {
	case pairing.Began:
		t.began(it.Call)
	case pairing.Ended:
		t.ended(it.Call)
	case pairing.Kernel:
		t.kernel(it.Event)
	case pairing.Gone:
		t.release()
	}
}

// began takes a call that has begun.
func (t *Totals) began(c *pairing.Call) {
	if t.plan.Mode != uprobe.Entries || t.opt.Observe == nil {
		return
	}
	o := t.opt.Observe(c)
	t.addAmount(&t.funcs[c.Func], &o)
	if t.opt.ByValue {
		row := t.parts.Row(keyOf(c, &o))
		t.addAmount(&row.Func, &o)
		t.count(row, &o, 0)
	}
}

// keyOf is that of the row that a call counts for.
func keyOf(c *pairing.Call, o *Observed) stats.PartKey {
	return stats.PartKey{Func: c.Func, Value: o.Value, Kind: o.Kind}
}

// count counts a call for the row of its value. Each weighs something: a row that has lost its room is
// not exact, even if its calls took no time.
func (t *Totals) count(row *stats.Part, o *Observed, ns int64) {
	row.Calls++
	weight := int64(1)
	switch t.opt.KeptBy {
	case ByTime:
		weight = ns
	case BySum:
		weight = o.Amount
	}
	t.parts.Weigh(row, uint64(max(weight, 1)))
}

// addAmount adds that of a call.
func (t *Totals) addAmount(f *stats.Func, o *Observed) {
	switch {
	case !t.opt.Amounts:
		return
	case f.Amounts == nil:
		f.Amounts = &stats.Amounts{}
	}
	if o.Counts {
		f.Amounts.Record(o.Amount)
	} else {
		f.Amounts.Left++
	}
}

// ended takes a call that has ended.
func (t *Totals) ended(c *pairing.Call) {
	var o Observed
	if t.opt.Observe != nil {
		o = t.opt.Observe(c)
	} else {
		o.Failed = len(c.Results) > 0 && c.Results[0] != 0
	}
	t.addOutcome(&t.funcs[c.Func], c, &o)
	// It does not wait for the costs to be measured as long as it can do without: the ring buffer fills
	// meanwhile. (Stacks are looked up at once, as long as the process is there.)
	if t.opt.Stacks == nil && len(t.pending) < maxPending && !t.opt.Costs.Ready() {
		kept := observedCall{*c, o}
		kept.Waits = slices.Clone(c.Waits)
		t.pending = append(t.pending, kept)
		return
	}
	if len(t.pending) > 0 {
		t.release()
	}
	t.time(c, &o)
}

func (t *Totals) addOutcome(f *stats.Func, c *pairing.Call, o *Observed) {
	t.addAmount(f, o)
	switch c.Outcome {
	case pairing.Returned:
		f.Completed++
		if f.ReturnsErrors && o.Failed {
			f.Errors++
		}
	case pairing.Unwound:
		f.Unwound++
	case pairing.Open:
		f.Open++
	}
}

// kernel takes a kernel event.
func (t *Totals) kernel(ev *pairing.KernelEvent) {
	if ev.Call != nil {
		t.funcs[ev.Call.Func].AddEvent(t.opt.Events[ev.Format], 1)
	}
}

// maxPending bounds Totals.pending: some MB, and as many calls as most programs make while the
// costs are measured.
const maxPending = 1 << 15

// release records the pending calls, and waits for the costs if there are any.
func (t *Totals) release() {
	for i := range t.pending {
		t.time(&t.pending[i].Call, &t.pending[i].Observed)
	}
	t.pending = nil
}

// time records how long a call took, and all of it for its part.
func (t *Totals) time(c *pairing.Call, o *Observed) {
	var row *stats.Part
	if t.parts != nil {
		row = t.parts.Row(keyOf(c, o))
		t.addOutcome(&row.Func, c, o)
	}
	var timing stats.Timing
	switch c.Outcome {
	case pairing.Returned:
		if c.End < c.Start {
			t.steppedBack++
		}
		timing = t.latency(c, t.opt.Clock.Took(c).Nanoseconds())
		f := &t.funcs[c.Func]
		f.Time(timing)
		t.split(f, c, timing.Net)
		if row != nil {
			row.Time(timing)
			t.split(&row.Func, c, timing.Net)
		}
	case pairing.Unwound, pairing.Abandoned, pairing.Open: // a process that executes its file anew leaves calls open
		t.within.Take(c)
		t.runnable.Take(c)
	}
	if t.opt.ByValue {
		t.count(row, o, timing.Net)
	}
	if t.opt.Stacks != nil {
		t.opt.Stacks.AddCall(c, timing, min(t.ownRunnable(c, timing.Net), timing.Self), o.Amount)
	}
}

// ownRunnable is for how long a call that took ns could have gone on with a CPU, without calls nested in it.
func (t *Totals) ownRunnable(c *pairing.Call, ns int64) int64 {
	if !t.plan.Sched || c.Outcome != pairing.Returned {
		return 0
	}
	all, nested := t.opt.Clock.Split(c, ns).Runnable, t.runnable.Take(c)
	t.runnable.Add(c, max(all, nested))
	return max(all-nested, 0)
}

// split adds what a call that took ns spent its time with, if that is known.
func (t *Totals) split(f *stats.Func, c *pairing.Call, ns int64) {
	if t.plan.Sched {
		f.Split.Add(t.opt.Clock.Split(c, ns))
		f.Waits = t.opt.Clock.AddWaits(f.Waits, c, t.plan.Reasons)
	}
}

// latency is how long a call took that was seen to take ns: net of what probes cost, that of
// its own begin and those of all that was nested in it. It is not less than what the nested
// calls took. If nothing is known of costs, Self is 0 unless stacks need it.
func (t *Totals) latency(c *pairing.Call, ns int64) stats.Timing {
	costs := t.opt.Costs.Take()
	timing := stats.Timing{Raw: ns, Net: ns, High: ns, Known: costs != nil}
	if timing.Known {
		timing.Net = costs.Typical.Left(c, ns)
		timing.Low, timing.High = t.boundsBy(costs, c, ns)
	} else if t.opt.Stacks == nil {
		return timing
	}
	nested := t.within.Take(c)
	timing.Net = max(timing.Net, nested)
	timing.High = max(timing.High, timing.Net)
	t.within.Add(c, timing.Net)
	timing.Self = timing.Net - nested
	return timing
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

func (t *Totals) boundsBy(costs *pairing.HitCosts, c *pairing.Call, ns int64) (low, high int64) {
	if low = costs.Most.Left(c, ns); t.plan.BySP {
		low = 0 // it is not known what was nested in it
	}
	return low, costs.Least.Left(c, ns)
}

// SteppedBack is the number of calls that have returned before they began, by the clock.
func (t *Totals) SteppedBack() int { return t.steppedBack }
