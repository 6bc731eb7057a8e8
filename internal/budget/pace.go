package budget

import (
	"math"
	"slices"
)

// pace is the time in which the program kept about as many CPUs busy.
//
// A stretch in which all sampled functions are counted gives their calls relative to each other. It does not give
// the own time well, because probes may take nearly all of the program's time. So those functions whose probes slow the program down little are
// also counted alone. They are witnesses for the others: their rate turns their calls of the other stretches into own time.
//
// The time is cut into periods, each of which is estimated by its own stretches, because rates change.
type pace struct {
	cpus      float64 // that were busy when it was first seen; 0 if that was for too short a time to tell
	stretches []Stretch
	total     Range // own time so far
	unwatched Range // own time of the open period without any stretch
	joined    map[int]joining
	only      map[int]Range // own time in which a function was watched, and others were not
	closed    map[int]sum   // of the periods before
	gaps      map[int]Range // own time of the periods before in which nobody watched a function, and no stretch counted it
}

// joining is when a function joined the open period: what unwatched was then, and the number of stretches.
type joining struct {
	unwatched Range
	stretches int
}

// away is the own time of the open period in which nobody watched a function.
func (p *pace) away(fn int) Range {
	from, only := p.joined[fn].unwatched, p.only[fn]
	return Range{
		max(p.unwatched.Low-from.Low-only.Low, 0), max(p.unwatched.Typical-from.Typical-only.Typical, 0),
		max(p.unwatched.High-from.High-only.High, 0),
	}
}

// of adds the open period to those before.
func (p *pace) of(fn int) sum {
	own := p.away(fn)
	if own.High == 0 {
		return p.closed[fn]
	}
	rate, chance := p.rate(fn)
	calls := rate.Typical * own.Typical
	return p.closed[fn].add(calls, rate.Low*own.Low, rate.High*own.High, calls*chance)
}

// counted tells whether any stretch of the open period has counted a function's calls.
func (p *pace) counted(fn int) bool {
	for i := p.joined[fn].stretches; i < len(p.stretches); i++ {
		if s := &p.stretches[i]; s.Own.High > 0 && s.watched(fn) {
			return true
		}
	}
	return false
}

// rate is how many calls a function makes in a second of own time, with bounds for what is not known of the cost of
// probes, and the relative error by chance.
func (p *pace) rate(fn int) (rate Range, chance float64) {
	best, bestChance, width := Range{0, 0, math.Inf(1)}, 0.0, math.Inf(1)
	least := math.Inf(1) // of the rates that do not go by a witness, which may be called when others are not
	take := func(r Range, chance float64) {
		if w := math.Log((r.High + r.Typical*chance) / max(r.Low-r.Typical*chance, r.Typical/1e3, 1e-300)); w < width || math.IsInf(best.High, 1) && best.Typical == 0 {
			best, bestChance, width = r, chance, w
		}
	}
	one := []int{fn}
	var directs []Range
	for _, light := range []bool{true, false} {
		if r, chance, ok := p.direct(one, light); ok {
			directs, least = append(directs, r), min(least, r.Low)
			take(r, chance)
		}
	}
	if w := p.witnesses(); !slices.Contains(w, fn) {
		by, byChance, ok := p.direct(w, true)
		ratio, ratioChance, known := p.ratio(fn, w)
		if ok && known {
			take(Range{by.Low * ratio, by.Typical * ratio, by.High * ratio}, math.Hypot(byChance, ratioChance))
		}
	}
	if len(p.stretches) < mostTrusting {
		best.Low = min(best.Low, least)
	}
	// Estimates that contradict each other are of stretches in which the program did different things: neither is trusted alone.
	for _, r := range directs {
		if r.Low > best.High+best.Typical*bestChance || r.High < best.Low-best.Typical*bestChance {
			best.Low, best.High = min(best.Low, r.Low), max(best.High, r.High)
		}
	}
	return best, bestChance
}

// witnesses are the functions that were counted alone last.
func (p *pace) witnesses() []int {
	for i := len(p.stretches) - 1; i >= 0; i-- {
		if light := p.stretches[i].Light; light != nil {
			return light
		}
	}
	return nil
}

// direct is the rate of functions together by the own time of stretches in which they were watched, be it that others were not, or that all were.
func (p *pace) direct(fns []int, light bool) (rate Range, chance float64, ok bool) {
	var own Range
	var calls, owns []float64
	for i := p.from(fns); i < len(p.stretches); i++ {
		s := &p.stretches[i]
		if (s.Light != nil) != light || s.Own.High == 0 || slices.ContainsFunc(fns, func(fn int) bool { return !s.watched(fn) }) {
			continue
		}
		own = own.Add(s.Own)
		calls, owns = append(calls, s.calls(fns)), append(owns, s.Own.Typical)
	}
	n := total(calls)
	if own.High == 0 {
		return rate, 0, false
	}
	typical := max(own.Typical, own.High/4)
	rate = Range{n / own.High, n / typical, n / own.Low} // of no own time at least the rate has no bound
	if n == 0 {
		// So many calls at most were to be expected where none was seen, in 199 of 200 cases.
		return Range{0, 0, -math.Log(0.005) / typical}, 0, true
	}
	return rate, spread(calls, owns, false), true
}

// from is the first stretch since which functions are sampled.
func (p *pace) from(fns []int) (first int) {
	for _, fn := range fns {
		first = max(first, p.joined[fn].stretches)
	}
	return first
}

// calls are those of functions together.
func (s *Stretch) calls(fns []int) (n float64) {
	for _, fn := range fns {
		n += float64(s.Calls[fn])
	}
	return n
}

// ratio is how many calls a function makes for each of witnesses, by the stretches of all functions.
func (p *pace) ratio(fn int, witnesses []int) (ratio, chance float64, ok bool) {
	one := []int{fn}
	var calls, of []float64
	for i := max(p.from(one), p.from(witnesses)); i < len(p.stretches); i++ {
		if s := &p.stretches[i]; s.Light == nil {
			calls, of = append(calls, s.calls(one)), append(of, s.calls(witnesses))
		}
	}
	n, m := total(calls), total(of)
	if m == 0 || n == 0 {
		return 0, 0, false
	}
	return n / m, spread(calls, of, true), true
}

func total(of []float64) (sum float64) {
	for _, n := range of {
		sum += n
	}
	return sum
}

// spread is the relative error of the ratio of two sums, by chance: how far the stretches differ, and at least how far counts of so many
// calls vary that come at random (counted tells whether both are counts). Few stretches tell little of how far they differ.
func spread(calls, of []float64, counted bool) float64 {
	n, m, k := total(calls), total(of), float64(len(calls))
	least := 1 / n
	if counted {
		least += 1 / m
	}
	// The variance of a ratio estimator (W. G. Cochran, Sampling Techniques, 3rd edition, 6.4).
	var squares float64
	for i := range calls {
		d := calls[i] - n/m*of[i]
		squares += d * d
	}
	seen := 0.0
	if k > 1 && m > 0 {
		seen = squares * k / (k - 1) / (n * n)
	}
	// Of one or two stretches nobody knows how far others differ: they may be several times as much.
	if k < 3 {
		return sure*math.Sqrt(least) + 4 - k
	}
	return max(student(len(calls)-1)*math.Sqrt(seen), sure*math.Sqrt(least), alike/math.Sqrt(k))
}

// unlike is how many times as often a function may be called while nobody watches as while somebody does, where no stretch tells.
const unlike = 10

// alike is how far stretches differ at least: few of them that seem alike may all have missed what happens at times.
const alike = 0.5

// sure is how many standard errors an estimate may be off, so that some forty of them hold together in 19 of 20 runs.
const sure = 3.2

// student is the same where the standard error is known from so many degrees of freedom alone: quantiles of Student's distribution for 0.9993,
// by the expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5), which is too low for less than 4.
func student(freedom int) float64 {
	switch v := float64(freedom); {
	case freedom < 2:
		return 200
	case freedom == 2:
		return 27
	case freedom == 3:
		return 11.8
	default:
		z := sure
		return z + (z*z*z+z)/(4*v) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*v*v) + (3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*v*v*v)
	}
}
