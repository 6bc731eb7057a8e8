package budget

import (
	"math"
	"slices"
)

// pace holds the stretches and the own time in which the program kept about the same number of CPUs busy.
//
// A Count stretch gives the ratios between the calls of functions. It does not give the program's own time well,
// because probes may take most of the CPU time. So functions whose probes slow the program down little are also counted
// alone, in Light stretches. These functions are the witnesses: their rate of calls converts their calls in Count
// stretches to own time.
//
// The time is divided into periods. Each period is estimated by its own stretches, because rates change.
type pace struct {
	cpus      float64 // busy CPUs in the first interval; 0 if the interval was too short
	stretches []Stretch
	total     Range // own time so far
	unwatched Range // own time of the open period outside of stretches that watch all sampled functions
	joined    map[int]joinPoint
	lightTime map[int]Range // own time of the open period's Light stretches, by function
	closed    map[int]sum   // estimates of the earlier periods
	uncounted map[int]Range // own time of earlier periods in which no stretch counted a function
}

// joinPoint is the state of the open period when a function joined it: unwatched, and the number of stretches.
type joinPoint struct {
	unwatched Range
	stretches int
}

// uncountedTime returns the own time of the open period in which a function was not watched.
func (p *pace) uncountedTime(fn int) Range {
	from, only := p.joined[fn].unwatched, p.lightTime[fn]
	return Range{
		max(p.unwatched.Low-from.Low-only.Low, 0), max(p.unwatched.Typical-from.Typical-only.Typical, 0),
		max(p.unwatched.High-from.High-only.High, 0),
	}
}

// estimate returns the sum of the closed periods and the open one.
func (p *pace) estimate(fn int) sum {
	own := p.uncountedTime(fn)
	if own.High == 0 {
		return p.closed[fn]
	}
	rate, chance := p.rate(fn)
	calls := rate.Typical * own.Typical
	return p.closed[fn].add(calls, rate.Low*own.Low, rate.High*own.High, calls*chance)
}

// counted reports whether any stretch of the open period has counted a function's calls.
func (p *pace) counted(fn int) bool {
	open := p.stretches[p.joined[fn].stretches:]
	return slices.ContainsFunc(open, func(s Stretch) bool { return s.Own.High > 0 && s.watched(fn) })
}

// rate returns the number of calls of a function per second of own time. The bounds cover the error of the cost of probes,
// and chance is the relative error by chance.
func (p *pace) rate(fn int) (rate Range, chance float64) {
	best, bestChance, width := Range{0, 0, math.Inf(1)}, 0.0, math.Inf(1)
	least := math.Inf(1) // the lowest rate without witnesses: other functions may be called when no witness is
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
	if len(p.stretches) < trustedStretches {
		best.Low = min(best.Low, least)
	}
	// Estimates that contradict each other come from stretches in which the program did different work. Use both.
	for _, r := range directs {
		if r.Low > best.High+best.Typical*bestChance || r.High < best.Low-best.Typical*bestChance {
			best.Low, best.High = min(best.Low, r.Low), max(best.High, r.High)
		}
	}
	return best, bestChance
}

// witnesses returns the functions of the last Light stretch.
func (p *pace) witnesses() []int {
	for i := len(p.stretches) - 1; i >= 0; i-- {
		if light := p.stretches[i].Light; light != nil {
			return light
		}
	}
	return nil
}

// direct returns the number of calls of all fns together per second of own time, in the stretches that watched them: if
// light is true, in Light stretches, else in the others.
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
	rate = Range{n / own.High, n / typical, n / own.Low} // Low has no bound if the own time may be 0
	if n == 0 {
		// No call was seen: the rate is not higher than this in 199 of 200 cases.
		return Range{0, 0, -math.Log(0.005) / typical}, 0, true
	}
	return rate, spread(calls, owns, false), true
}

// from returns the index of the first stretch since all of the functions are sampled.
func (p *pace) from(fns []int) (first int) {
	for _, fn := range fns {
		first = max(first, p.joined[fn].stretches)
	}
	return first
}

// calls returns the number of calls of some functions.
func (s *Stretch) calls(fns []int) (n float64) {
	for _, fn := range fns {
		n += float64(s.Calls[fn])
	}
	return n
}

// ratio returns the number of calls of a function per call of witnesses in Count stretches.
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

// spread returns the relative error by chance of the ratio of two sums. It is computed from the differences between the
// stretches, and is at least the error of random counts. If counted is true, both sums are counts.
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
	// One or two stretches show nothing of the differences: other stretches may have several times as many calls.
	if k < 3 {
		return stdErrors*math.Sqrt(least) + 4 - k
	}
	return max(student(len(calls)-1)*math.Sqrt(seen), stdErrors*math.Sqrt(least), minSpread/math.Sqrt(k))
}

// maxRateChange is the highest factor by which the rate of a function may differ between watched and unwatched time if
// no stretch shows the difference.
const maxRateChange = 10

// minSpread is the least relative difference between stretches: a few similar ones may all have missed a rare event.
const minSpread = 0.5

// stdErrors is the number of standard errors in a bound, so that 40 bounds hold together in 19 of 20 runs.
const stdErrors = 3.2

// student replaces stdErrors where the standard error is computed from few degrees of freedom: quantiles of Student's
// distribution for 0.9993, by the expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5), which is too low for
// less than 4 degrees.
func student(freedom int) float64 {
	switch v := float64(freedom); {
	case freedom < 2:
		return 200
	case freedom == 2:
		return 27
	case freedom == 3:
		return 11.8
	default:
		z := stdErrors
		return z + (z*z*z+z)/(4*v) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*v*v) + (3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*v*v*v)
	}
}
