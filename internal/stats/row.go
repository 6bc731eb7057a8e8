package stats

import "slices"

// Row is what one line of a table tells: the calls of a function over a stretch
// of time, which is the whole run or one interval of it.
type Row struct {
	Function
	// Rate is calls per second of that stretch, 0 if it had no length.
	Rate float64
	// Raw: Latency has in it what probes cost, since that may be all of it.
	Raw bool
}

// NewRow returns the row of f over the given seconds. Its latencies are raw if of what was
// seen of a typical call all may be probes'.
func NewRow(f Function, seconds float64) Row {
	row := Row{Function: f}
	if b := f.Bounds; b != nil && f.Latency.Count() > 0 && b.typicalShare() == 0 {
		row.ShowRaw()
	}
	if seconds > 0 {
		row.Rate = float64(f.Calls) / seconds
	}
	return row
}

// ShowRaw leaves in latencies what probes cost.
func (r *Row) ShowRaw() {
	if r.Raw || r.Bounds == nil {
		return
	}
	r.Raw, r.Latency = true, &r.Bounds.Raw
	if r.Split.Sum() > 0 {
		r.Split = r.Split.Of(r.Latency.Sum())
	}
}

// Snapshot returns a copy of f that no longer changes with f.Latency.
func (f Function) Snapshot() Function {
	if f.Latency != nil {
		f.Latency = f.Latency.Clone()
	}
	if f.Bounds != nil {
		f.Bounds = f.Bounds.clone()
	}
	f.Events = slices.Clone(f.Events)
	return f
}

// Since returns what happened to f after earlier, a [Function.Snapshot] of it or
// the zero Function, was taken. Open stays the number of calls open now, so that
// the parts add up to Calls only over a whole run: a call may begin in one
// interval and complete in the next.
func (f Function) Since(earlier Function) Function {
	f.Calls = grown(f.Calls, earlier.Calls)
	f.Completed = grown(f.Completed, earlier.Completed)
	f.Unwound = grown(f.Unwound, earlier.Unwound)
	f.Lost = grown(f.Lost, earlier.Lost)
	f.Unsure = grown(f.Unsure, earlier.Unsure)
	f.CountedOnly = grown(f.CountedOnly, earlier.CountedOnly)
	f.Errors = grown(f.Errors, earlier.Errors)
	f.Split = f.Split.since(earlier.Split)
	f.Events = slices.Clone(f.Events)
	for i := range min(len(f.Events), len(earlier.Events)) {
		f.Events[i] = grown(f.Events[i], earlier.Events[i])
	}
	f.Bounds = f.Bounds.since(earlier.Bounds)
	switch {
	case f.Latency == nil:
	case earlier.Latency == nil:
		f.Latency = f.Latency.Clone()
	default:
		f.Latency = f.Latency.Since(earlier.Latency)
	}
	return f
}

// grown never goes below zero: Lost shrinks when a late line arrives after all.
func grown(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}
