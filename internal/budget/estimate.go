package budget

import (
	"math"
	"slices"
)

// Range is a number that is known within bounds. High may be +Inf.
type Range struct{ Low, Typical, High float64 }

// Add returns the sum of two ranges.
func (r Range) Add(s Range) Range {
	return Range{r.Low + s.Low, r.Typical + s.Typical, r.High + s.High}
}

// Less returns what is left of n without a cost, which is at least 0.
func Less(n float64, cost Range) Range {
	return Range{max(n-cost.High, 0), max(n-cost.Typical, 0), max(n-cost.Low, 0)}
}

// Stretch is a stretch of time in which calls of sampled functions were counted.
type Stretch struct {
	Own   Range       // the CPU time that the program had for itself, in seconds: without what probes took
	Calls map[int]int // how many calls each function made; functions without any are missing
	// Light are the functions that were watched, nil if all sampled ones were.
	Light []int
}

func (s *Stretch) watched(fn int) bool { return s.Light == nil || slices.Contains(s.Light, fn) }

// Estimates adds up what sampled functions did while nobody watched them.
//
// Calls go by the program's own CPU time: a function makes as many calls in a second of it whether it is watched or not.
// That holds as long as the program does the same things. One that sleeps and then works does not, so that each [pace] is estimated by its
// own stretches. The zero Estimates is ready for use.
type Estimates struct {
	paces []*pace
	pace  *pace         // of the last moment
	last  interval      // without any stretch in it
	total Range         // own time so far
	away  map[int]bool  // functions that are not watched all the time now
	gaps  map[int]Range // own time in which a function was not watched, and no stretch was either
}

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
	unwatched Range // own time of the open period without any stretch
	joined    map[int]joining
	only      map[int]Range // own time in which a function was watched, and others were not
	closed    map[int]sum   // of the periods before
}

// interval is a time in which no sampled function was watched.
type interval struct {
	seconds float64
	own     Range
	pace    *pace
}

// joining is when a function joined the open period: what unwatched was then, and the number of stretches.
type joining struct {
	unwatched Range
	stretches int
}

// sum is an estimate of calls that nobody saw. What bounds it from either side adds up: systematic errors by their size, chance by its variance.
type sum struct{ calls, below, above, variance float64 }

const (
	// A program keeps another pace where it keeps so many times as many CPUs busy, or as few, for a moment of at least so many seconds: the
	// kernel adds up the time of a thread that runs every 4 ms or less often.
	otherPace, paceMoment = 5, 0.02
	leastPace             = 0.001 // CPUs
	// mostTrusting is from how many stretches on a witness is trusted to be called when others are.
	mostTrusting = 12
	// mostStretches is how many stretches a period has.
	mostStretches = 48
)

// at is the pace of a moment that took so long and so much CPU time, in seconds.
func (e *Estimates) at(seconds, cpu float64) *pace {
	if seconds < paceMoment && e.pace != nil {
		return e.pace
	}
	cpus, nearest := 0.0, float64(otherPace)
	if seconds >= paceMoment {
		cpus = max(cpu/seconds, leastPace)
	}
	e.pace = nil
	for _, p := range e.paces {
		if p.cpus == 0 {
			p.cpus = cpus
		}
		if apart := max(p.cpus/cpus, cpus/p.cpus); apart < nearest {
			e.pace, nearest = p, apart
		}
	}
	if e.pace == nil {
		e.pace = &pace{cpus: cpus, joined: make(map[int]joining), only: make(map[int]Range), closed: make(map[int]sum)}
		e.paces = append(e.paces, e.pace)
	}
	return e.pace
}

// Join says that a function is sampled from now on.
func (e *Estimates) Join(fn int) {
	if e.away == nil {
		e.away, e.gaps = make(map[int]bool), make(map[int]Range)
	}
	if e.away[fn] {
		return
	}
	e.away[fn] = true
	for _, p := range e.paces {
		p.joined[fn] = joining{p.unwatched, len(p.stretches)}
	}
}

// Leave says that a function is watched all the time from now on.
func (e *Estimates) Leave(fn int) {
	if !e.away[fn] {
		return
	}
	for _, p := range e.paces {
		e.close(p, fn)
		delete(p.joined, fn)
		delete(p.only, fn)
	}
	delete(e.away, fn)
}

// close takes the open period of a pace to those before, or to what no stretch has seen.
func (e *Estimates) close(p *pace, fn int) {
	if p.counted(fn) {
		p.closed[fn] = p.of(fn)
	} else if gap := p.away(fn); gap.High > 0 {
		e.gaps[fn] = e.gaps[fn].Add(gap)
	}
}

// Pause adds own time in which no sampled function was watched, of a moment that took so long and so much CPU time.
func (e *Estimates) Pause(own Range, seconds, cpu float64) {
	p := e.at(seconds, cpu)
	e.total, p.unwatched = e.total.Add(own), p.unwatched.Add(own)
	if seconds < paceMoment {
		return
	}
	now := interval{seconds, own, p}
	if e.last.pace != nil && e.last.pace != p { // the pace has changed in one of the two intervals
		now.mayBeOf(e.last.pace)
		e.last.mayBeOf(p)
	}
	e.last = now
}

// mayBeOf says that the program may have kept another pace for a part of an interval.
func (i *interval) mayBeOf(other *pace) {
	part := min(i.own.High, i.seconds*other.cpus)
	other.unwatched.High += part
	i.pace.unwatched.Low = max(i.pace.unwatched.Low-part, 0)
}

// First adds the calls of functions that join now, and were watched from the beginning. How much own time there was meanwhile is not known.
func (e *Estimates) First(calls map[int]int) {
	p := e.at(0, 0)
	p.stretches = append(p.stretches, Stretch{Calls: calls})
}

// Watched adds own time in which all sampled functions were watched, and nothing is told of how often.
func (e *Estimates) Watched(own Range) { e.total = e.total.Add(own) }

// Sampled tells whether a function was not watched all the time.
func (e *Estimates) Sampled(fn int) bool {
	return e.away[fn] || e.gaps[fn] != Range{} || slices.ContainsFunc(e.paces, func(p *pace) bool { return p.closed[fn] != sum{} })
}

// Away tells whether a function is not watched now.
func (e *Estimates) Away(fn int) bool { return e.away[fn] }

// Add adds a stretch, of a moment that took so long and so much CPU time.
func (e *Estimates) Add(s Stretch, seconds, cpu float64) {
	p := e.at(seconds, cpu)
	e.total = e.total.Add(s.Own)
	if s.Light != nil { // nobody watched the others
		p.unwatched = p.unwatched.Add(s.Own)
		for _, fn := range s.Light {
			p.only[fn] = p.only[fn].Add(s.Own)
		}
	}
	if p.stretches = append(p.stretches, s); len(p.stretches) < mostStretches {
		return
	}
	for fn := range e.away {
		e.close(p, fn)
	}
	clear(p.joined)
	clear(p.only)
	p.stretches, p.unwatched = nil, Range{}
}

// Unseen estimates the calls of a function that nobody saw, of which so many were seen. The bounds hold for some forty functions together in 19
// of 20 runs.
func (e *Estimates) Unseen(fn int, seen uint64) Range {
	var s sum
	gap := e.gaps[fn]
	for _, p := range e.paces {
		of := p.closed[fn]
		switch {
		case !e.away[fn]:
		case p.counted(fn):
			of = p.of(fn)
		default:
			gap = gap.Add(p.away(fn))
		}
		s = sum{s.calls + of.calls, s.below + of.below, s.above + of.above, s.variance + of.variance}
	}
	if gap.High > 0 { // the rate is that of the time in which it was watched, and may have been another one
		watched := Range{max(e.total.Low-gap.High, 0), max(e.total.Typical-gap.Typical, e.total.High/1e3), e.total.High}
		n, chance := float64(seen), sure*math.Sqrt(float64(seen))
		most := unlike * (n + chance - math.Log(0.005)) / watched.Low * gap.High
		if gap.Typical > e.total.Typical/2 {
			most = math.Inf(1)
		}
		s = s.add(n/watched.Typical*gap.Typical, 0, most, 0)
	}
	chance := math.Sqrt(s.variance)
	return Range{max(s.calls-math.Hypot(s.below, chance), 0), s.calls, s.calls + math.Hypot(s.above, chance)}
}

func (s sum) add(calls, low, high, chance float64) sum {
	return sum{s.calls + calls, s.below + calls - low, s.above + high - calls, s.variance + chance*chance}
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
