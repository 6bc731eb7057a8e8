package stats

import "math"

// Whole estimates the calls of a stretch of time in which a function was watched for some of the time only,
// because of a budget: those that were seen, and those that were not. In 19 of 20 runs the numbers of all functions are between Low and
// High, which is +Inf where nothing bounds it.
type Whole struct{ Calls, Low, High float64 }

// Bounded tells whether the number of calls is known within bounds. A nil Whole is: all calls were seen.
func (w *Whole) Bounded() bool { return w == nil || !math.IsInf(w.High, 1) }

// Least is the estimate, or, if nothing bounds that, how many calls there were at least. It must not be asked of nil.
func (w *Whole) Least() float64 {
	if w.Bounded() {
		return w.Calls
	}
	return w.Low
}

// sure is how many standard errors an estimate may be off, as in package budget.
const sure = 3.2

// Plus returns the estimate of two stretches together. A nil one is of calls that were all seen.
func (w *Whole) Plus(calls uint64, v *Whole, others uint64) *Whole {
	if w == nil && v == nil {
		return nil
	}
	a, b := w.or(calls), v.or(others)
	return &Whole{a.Calls + b.Calls, a.Low + b.Low, a.High + b.High}
}

func (w *Whole) or(calls uint64) Whole {
	if w == nil {
		n := float64(calls)
		return Whole{n, n, n}
	}
	return *w
}

// since is the estimate of what has happened after an earlier one, with the bounds of all of it: how far these are from what is the
// earlier one's share of the error nobody knows.
func (w *Whole) since(calls uint64, earlier *Whole, before uint64) *Whole {
	if w == nil {
		return nil
	}
	e := earlier.or(before)
	seen := float64(calls - min(before, calls))
	n := max(w.Calls-e.Calls, seen)
	return &Whole{n, max(min(n, w.Low-e.High), seen), max(n, w.High-e.Low)}
}

// Part is the estimate of those calls that a row has, which are so many of all that were seen.
func (w *Whole) Part(calls, of uint64) *Whole {
	if w == nil || of == 0 {
		return w
	}
	n, k := float64(of), float64(calls)
	share := k / n
	// Wilson's interval for a share, of calls that come in stretches: their number counts for half.
	const z2 = 2 * sure * sure
	middle, half := (share+z2/(2*n))/(1+z2/n), math.Sqrt(z2*(share*(1-share)/n+z2/(4*n*n)))/(1+z2/n)
	return &Whole{max(w.Calls*share, k), max(w.Low*max(middle-half, 0), k), max(w.High*min(middle+half, 1), k)}
}

// timed are the calls that rows of values, and of processes, have: where a budget has some only counted nobody knows whose they are.
func (f *Func) timed() uint64 {
	if f.Whole == nil {
		return f.Calls
	}
	return f.Calls - min(f.CountedOnly, f.Calls)
}

// Ended are the calls that have ended, which latencies are of.
func (f *Func) Ended() uint64 { return f.Completed + f.Unwound }

// Number is the number of calls, those that were not seen included.
func (f *Func) Number() float64 {
	if f.Whole == nil {
		return float64(f.Calls)
	}
	return f.Whole.Calls
}

// Count is Number as a whole number.
func (f *Func) Count() uint64 { return uint64(math.Round(f.Number())) }

// AmountTotal is the sum of amounts for all calls, 0 if there are none, with bounds: those of the number of calls, and how far a
// mean of so many amounts may be off.
func (f *Func) AmountTotal() (n, low, high int64) {
	a, w := f.Amounts, f.Whole
	if a == nil || a.Count() == 0 {
		return 0, 0, 0
	}
	if n = a.Sum(); w == nil {
		return n, n, n
	}
	sum, of, chance := float64(n), float64(a.Count()+a.Left), sure*a.Spread()
	return whole(sum * w.Calls / of), max(whole(sum*w.Low/of*(1-chance)), n), whole(sum * w.High / of * (1 + chance))
}

// whole is a float as far as an int64 goes.
func whole(x float64) int64 { return int64(min(math.Round(x), 1<<62)) }

// Scale is what sums over timed calls are to be multiplied by to be of all calls; it is NaN where too few were timed to end, or
// the longest of them did not end while they were watched.
func (f *Func) Scale() float64 {
	switch {
	case f.Whole == nil:
		return 1
	case f.Ended() == 0 || f.CutShort*20 > f.Ended():
		return math.NaN()
	}
	return f.Whole.Calls / float64(f.Ended())
}

// Total is the sum of net latencies for all calls, with bounds: those of each call's own, those of the number of calls, and how far a
// mean of so many calls may be off. ok is false where nothing can be said of calls that were not timed.
func (f *Func) Total() (n, low, high int64, ok bool) {
	if f.Latency == nil || f.Latency.Count() == 0 || !f.Whole.Bounded() {
		return 0, 0, 0, false
	}
	n = f.Latency.Sum()
	if low, high = n, n; f.Bounds != nil {
		low, high = f.Bounds.Of(Statistics[len(Statistics)-1])
	}
	if f.Whole == nil {
		return n, low, high, true
	}
	scale := f.Scale()
	if math.IsNaN(scale) {
		return 0, 0, 0, false
	}
	ended, chance := float64(f.Ended()), sure*f.Latency.Spread()
	least := max(float64(low)*f.Whole.Low/ended*(1-chance), float64(low))
	return whole(float64(n) * scale), whole(least), whole(float64(high) * f.Whole.High / ended * (1 + chance)), true
}

// SelfTotal is the time of all calls without that of timed calls nested in them, if that is known.
func (f *Func) SelfTotal() (ns int64, ok bool) {
	scale := f.Scale()
	if f.Bounds == nil || f.Latency.Count() == 0 || f.Raw() || !f.Whole.Bounded() || math.IsNaN(scale) {
		return 0, false
	}
	return whole(float64(f.Self) * scale), true
}
