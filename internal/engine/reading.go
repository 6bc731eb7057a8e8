package engine

import (
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// At adds the totals of functions to a reading.
func (t *Totals) At(r *trace.Reading) {
	r.Whole = t.reconcile(r)
	for i := range r.Whole {
		f := &r.Whole[i]
		if f.Seconds = r.Seconds; !r.Last {
			// A call that has not ended may still be running. Only the last reading can show it as lost or open.
			f.Lost, f.Open = 0, 0
		}
	}
	if r.Pairs != nil {
		for _, f := range r.Whole {
			r.Pairs.Add(&stats.Pairs{Arrived: f.Completed, NotArrived: f.Open, Again: f.Unwound, Forgotten: f.CutShort})
		}
	}
	if t.Intervals {
		r.Since = t.since(r.Whole, r)
	}
	if t.plan.Waits { // leave out the functions that stand for wait reasons if no goroutine waited for the reason
		none := func(f stats.Func) bool { return f.Func >= t.plan.RequestedFuncs() && f.Calls == 0 }
		r.Whole, r.Since = slices.DeleteFunc(r.Whole, none), slices.DeleteFunc(r.Since, none)
	}
	r.Probing = t.probing(r)
}

// since returns the totals of functions since the previous reading.
func (t *Totals) since(funcs []stats.Func, r *trace.Reading) []stats.Func {
	if t.lastAt.IsZero() {
		t.lastAt = r.Began
	}
	before, there := t.last, make(map[uint64]bool)
	others := make(map[int]uint64)
	for _, f := range funcs {
		if there[f.Serial] = true; f.Kind == stats.Others {
			others[f.Func] = f.Serial
		}
	}
	for serial, f := range before { // a row that was merged since then is now a part of the row with the other values
		if !there[serial] {
			joined := before[others[f.Func]]
			joined.Add(&f)
			before[others[f.Func]] = joined
		}
	}
	rows := make([]stats.Func, len(funcs))
	for i, f := range funcs {
		rows[i] = f.Since(before[f.Serial]).Over(r.At.Sub(t.lastAt).Seconds())
	}
	t.last, t.lastAt = make(map[uint64]stats.Func, len(funcs)), r.At
	for _, f := range funcs {
		t.last[f.Serial] = f.Since(stats.Func{})
	}
	return rows
}

// reconcile completes the counts of the functions with the counts of the reading. If the return of a call was lost, the call
// seems unwound or open. reconcile subtracts the number of missing returns from the unwound and the open calls.
func (t *Totals) reconcile(r *trace.Reading) []stats.Func {
	out := slices.Clone(t.funcs)
	for i := range out {
		f, c := &out[i], &r.Counts.Funcs[i]
		f.Calls, f.Unsure, f.CountedOnly, f.CutShort = c.Calls, c.Unsure, c.Calls-c.Timed, c.Abandoned
		if i < len(r.Estimates) {
			f.Estimate = r.Estimates[i]
		}
		unwound := min(c.Missing, f.Unwound)
		f.Unwound -= unwound
		f.Open -= min(c.Missing-unwound, f.Open)
		if t.plan.Mode == uprobe.Latency && !t.plan.Funcs[i].Point {
			seen := f.Completed + f.Unwound + f.Open
			f.Lost = c.Timed - min(seen, c.Timed)
		}
	}
	if p := t.parts; p != nil {
		out = p.Reconcile(out, r.Last)
		evicted, atMost := p.Evicted()
		r.Summary.Values = &stats.TopValues{By: t.KeptBy, Most: stats.MaxValues, Evicted: evicted, AtMost: atMost}
	}
	for i := range out {
		f := &out[i]
		if f.Bounds != nil {
			f.Bounds.Waiting = r.Waited
		}
		if r.Last && t.Ended && f.Latency != nil && !t.plan.Funcs[f.Func].Point { // a call of a Point has no end
			f.Estimate = f.Estimate.Part(f.Ended(), f.Calls-f.CountedOnly)
			f.Calls, f.Open, f.Lost, f.CountedOnly = f.Ended(), 0, 0, 0
		}
	}
	return out
}

// probing returns the cost of the probes in the traced processes. It computes the cost from the kernel's hit counters. It
// returns nil if the cost of a hit is not known.
func (t *Totals) probing(r *trace.Reading) *stats.Probing {
	costs, counts := t.Costs.Take(), r.Counts
	if costs == nil {
		return nil
	}
	p := &stats.Probing{
		Emulated: costs.Typical.Emulated, Stepped: costs.Typical.Stepped, Fault: costs.Typical.Fault, Faults: counts.Ours.Faults,
		Change: costs.Typical.Change(), Changes: uint64(r.Changes),
		CPU: float64(r.Used),
	}
	all := func(c pairing.HitCost) float64 { return c.Of(counts.Ours) + c.Change()*r.Changes }
	p.NS, p.Low, p.High = all(costs.Typical), all(costs.Least), all(costs.Most)
	fit := p.Fit()
	// With estimates, the counters also include hits that were not recorded, because probes were being disarmed.
	if r.Estimates == nil {
		p.Others = othersBeyond(costs.Typical.Of(counts.Others), p.NS, r.Pass.Seconds(), r.Seconds)
	}
	for i := range counts.Funcs {
		p.Add(t.plan.Funcs[i].Name, fit*costs.Typical.Of(counts.Funcs[i].Hits))
	}
	return p
}

// othersBeyond returns the cost of hits in other processes. others is the cost of the hits that were counted but not
// recorded for the program. Some of these hits may be the program's own: hits are counted but not recorded while the
// counters are read, which takes pass at each end of the window. othersBeyond subtracts an upper bound for their cost.
func othersBeyond(others, own, pass, window float64) float64 {
	if window <= 0 {
		return 0
	}
	return max(0, others-own*2*pass/window)
}
