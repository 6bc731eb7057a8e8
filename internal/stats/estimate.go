package stats

import "math"

// Estimate estimates the number of all calls of a function whose probes a budget removed for some of the time. In 19 of
// 20 runs the true numbers of all functions are between their Low and High. High is +Inf if there is no upper bound.
type Estimate struct{ Calls, Low, High float64 }

// Bounded reports whether the number of calls has an upper bound. A nil Estimate stands for an exact count, which is
// its own upper bound.
func (e *Estimate) Bounded() bool { return e == nil || !math.IsInf(e.High, 1) }

// Least returns the estimated number of calls or, if e has no upper bound, the lower bound. e must not be nil.
func (e *Estimate) Least() float64 {
	if e.Bounded() {
		return e.Calls
	}
	return e.Low
}

// sure is the number of standard errors that an estimate may be off, as in package budget.
const sure = 3.2

// Plus returns the sum of two estimates, or nil if both are nil. calls is the exact count that replaces a nil e, and
// others the exact count that replaces a nil v.
func (e *Estimate) Plus(calls uint64, v *Estimate, others uint64) *Estimate {
	if e == nil && v == nil {
		return nil
	}
	a, b := e.or(calls), v.or(others)
	return &Estimate{a.Calls + b.Calls, a.Low + b.Low, a.High + b.High}
}

// or returns e. If e is nil, it returns an exact number of calls as an estimate.
func (e *Estimate) or(calls uint64) Estimate {
	if e == nil {
		n := float64(calls)
		return Estimate{n, n, n}
	}
	return *e
}

// since returns the estimate of the calls after an earlier estimate. The bounds of the result allow for the errors of
// both estimates. calls is the number of traced calls now, and before the number at the time of earlier. The result is
// at least the difference of these numbers.
func (e *Estimate) since(calls uint64, earlier *Estimate, before uint64) *Estimate {
	if e == nil {
		return nil
	}
	old := earlier.or(before)
	seen := float64(calls - min(before, calls))
	n := max(e.Calls-old.Calls, seen)
	return &Estimate{n, max(min(n, e.Low-old.High), seen), max(n, e.High-old.Low)}
}

// Part returns the part of an estimate that belongs to a row, by the traced calls of the row and of the function.
func (e *Estimate) Part(rowCalls, allCalls uint64) *Estimate {
	if e == nil || allCalls == 0 {
		return e
	}
	n, k := float64(allCalls), float64(rowCalls)
	share := k / n
	// Wilson's score interval of the share. z² is doubled because calls come in bursts and are not independent: n of
	// them count as n/2.
	const z2 = 2 * sure * sure
	middle, half := (share+z2/(2*n))/(1+z2/n), math.Sqrt(z2*(share*(1-share)/n+z2/(4*n*n)))/(1+z2/n)
	return &Estimate{max(e.Calls*share, k), max(e.Low*max(middle-half, 0), k), max(e.High*min(middle+half, 1), k)}
}

// timed returns the number of calls that can be in rows of values or processes. If a budget removed probes for some of
// the time, this excludes calls that were only counted, because their value and process are unknown.
func (f *Func) timed() uint64 {
	if f.Estimate == nil {
		return f.Calls
	}
	return f.Calls - min(f.CountedOnly, f.Calls)
}

// Ended returns the number of calls that have ended.
func (f *Func) Ended() uint64 { return f.Completed + f.Unwound }

// Number returns the number of calls, which is an estimate if a budget removed the probes for some of the time.
func (f *Func) Number() float64 {
	if f.Estimate == nil {
		return float64(f.Calls)
	}
	return f.Estimate.Calls
}

// Count returns Number, rounded.
func (f *Func) Count() uint64 { return uint64(math.Round(f.Number())) }

// AmountTotal returns the sum of Amounts over all calls, extrapolated if the number of calls is an estimate, and its
// bounds. The bounds combine the bounds of the number of calls and the standard error of the mean amount.
func (f *Func) AmountTotal() (n, low, high int64) {
	a := f.Amounts
	if a == nil || a.Count() == 0 {
		return 0, 0, 0
	}
	n = a.Sum()
	return f.Estimate.extrapolate(n, n, n, a.Count()+a.Missing, &a.Histogram)
}

// extrapolate extrapolates a sum over some calls and its bounds to all calls. The bounds allow for the standard error of
// the mean of h. A nil e changes nothing.
func (e *Estimate) extrapolate(n, low, high int64, calls uint64, h *Histogram) (int64, int64, int64) {
	if e == nil {
		return n, low, high
	}
	of, chance := float64(calls), sure*h.Spread()
	least := max(float64(low)*e.Low/of*(1-chance), float64(low))
	return limit(float64(n) * e.Calls / of), limit(least), limit(float64(high) * e.High / of * (1 + chance))
}

// limit rounds x and limits it to 1<<62.
func limit(x float64) int64 { return int64(min(math.Round(x), 1<<62)) }

// Scale returns the factor that extrapolates a sum over ended calls to all calls. It returns NaN if no call has ended,
// or if more than 5 % of them were cut short: the calls that are cut short are likely to be the longest, so the sum
// would be too small.
func (f *Func) Scale() float64 {
	switch {
	case f.Estimate == nil:
		return 1
	case f.Ended() == 0 || f.CutShort*20 > f.Ended():
		return math.NaN()
	}
	return f.Estimate.Calls / float64(f.Ended())
}

// Total returns the sum of net latencies over all calls and its bounds, which combine the bounds of the latencies, the
// bounds of the number of calls, and the standard error of the mean latency. ok is false if no latency was measured, or
// if the sum can't be extrapolated to calls that were not timed.
func (f *Func) Total() (n, low, high int64, ok bool) {
	if f.Latency == nil || f.Latency.Count() == 0 || !f.Estimate.Bounded() {
		return 0, 0, 0, false
	}
	n = f.Latency.Sum()
	if low, high = n, n; f.Bounds != nil {
		low, high = f.Bounds.Of(Statistics[len(Statistics)-1])
	}
	if math.IsNaN(f.Scale()) {
		return 0, 0, 0, false
	}
	n, low, high = f.Estimate.extrapolate(n, low, high, f.Ended(), f.Latency)
	return n, low, high, true
}

// SelfTotal returns Self, extrapolated to all calls. ok is false if it is unknown.
func (f *Func) SelfTotal() (ns int64, ok bool) {
	scale := f.Scale()
	if f.Bounds == nil || f.Latency.Count() == 0 || f.Raw() || !f.Estimate.Bounded() || math.IsNaN(scale) {
		return 0, false
	}
	return limit(float64(f.Self) * scale), true
}
