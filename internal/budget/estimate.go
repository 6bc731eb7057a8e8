package budget

import (
	"math"
	"slices"
)

// Range is a number with bounds. High may be +Inf.
type Range struct{ Low, Typical, High float64 }

// Add returns the sum of two ranges.
func (r Range) Add(s Range) Range {
	return Range{r.Low + s.Low, r.Typical + s.Typical, r.High + s.High}
}

// Less returns n minus cost, at least 0.
func Less(n float64, cost Range) Range {
	return Range{max(n-cost.High, 0), max(n-cost.Typical, 0), max(n-cost.Low, 0)}
}

// Stretch holds the results of a stretch in which calls of sampled functions were counted.
type Stretch struct {
	Own   Range       // the program's own CPU time in seconds, without the cost of probes
	Calls map[int]int // number of calls of each function; functions without calls are missing
	// Light holds the watched functions. Nil means all sampled functions.
	Light []int
}

func (s *Stretch) watched(fn int) bool { return s.Light == nil || slices.Contains(s.Light, fn) }

// Estimates estimates the calls of sampled functions outside of stretches.
//
// It assumes that a function makes as many calls per second of the program's own CPU time outside of stretches as in
// them. That holds as long as the program does the same work. It does not hold for a program that alternates between
// sleep and work. So each [pace] is estimated by its own stretches. The zero Estimates is ready for use.
type Estimates struct {
	paces   []*pace
	pace    *pace        // the present pace
	last    interval     // the last interval that shows its pace and has no stretch in it
	sampled map[int]bool // the functions that are sampled now
}

// interval is a time in which no sampled function was watched.
type interval struct {
	seconds float64
	own     Range
	pace    *pace
}

// sum is an estimated number of calls, with errors: systematic errors (below, above) add up, errors by chance add up as
// variances.
type sum struct{ calls, below, above, variance float64 }

const (
	// The program changes its pace if the number of busy CPUs changes by a factor of otherPace for at least paceTime
	// seconds. Shorter times are inexact, because the kernel adds up the CPU time of a running thread only every 4 ms.
	otherPace, paceTime = 5, 0.02
	minPace             = 0.001 // CPUs
	// negligible is the share of the program's time below which a pace needs no stretches of its own.
	negligible = 0.05
	// trustedStretches is the number of stretches of a pace from which on the rates of its witnesses are trusted.
	trustedStretches = 12
	// maxStretches is the number of stretches in a period of a pace.
	maxStretches = 48
)

// showsPace reports whether an interval is long enough to show the pace of the program.
func showsPace(seconds, cpu float64) bool { return seconds >= paceTime || cpu >= paceTime/2 }

// paceOf returns the pace of an interval, and makes it the present pace. seconds is the interval's duration, cpu the
// program's CPU time in it. If an interval is too short to show its pace, paceOf returns the present pace, unless this
// is the first interval.
func (e *Estimates) paceOf(seconds, cpu float64) *pace {
	cpus, nearest := 0.0, float64(otherPace)
	if showsPace(seconds, cpu) {
		cpus = max(cpu/seconds, minPace)
	} else if e.pace != nil {
		return e.pace
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
		e.pace = &pace{cpus: cpus, joined: make(map[int]joinPoint), uncounted: make(map[int]Range), lightTime: make(map[int]Range), closed: make(map[int]sum)}
		e.paces = append(e.paces, e.pace)
	}
	return e.pace
}

// Join notes that a function is sampled from now on.
func (e *Estimates) Join(fn int) {
	if e.sampled == nil {
		e.sampled = make(map[int]bool)
	}
	if e.sampled[fn] {
		return
	}
	e.sampled[fn] = true
	for _, p := range e.paces {
		p.joined[fn] = joinPoint{p.unwatched, len(p.stretches)}
	}
}

// Leave notes that a function is always watched from now on.
func (e *Estimates) Leave(fn int) {
	if !e.sampled[fn] {
		return
	}
	for _, p := range e.paces {
		e.close(p, fn)
		delete(p.joined, fn)
		delete(p.lightTime, fn)
	}
	delete(e.sampled, fn)
}

// close adds the open period of a pace to its earlier periods: as an estimate if a stretch of the period counted the
// function, else as uncounted time.
func (e *Estimates) close(p *pace, fn int) {
	if p.counted(fn) {
		p.closed[fn] = p.estimate(fn)
	} else if gap := p.uncountedTime(fn); gap.High > 0 {
		p.uncounted[fn] = p.uncounted[fn].Add(gap)
	}
}

// AddUnwatched adds the own time of an interval in which no sampled function was watched.
func (e *Estimates) AddUnwatched(own Range, seconds, cpu float64) {
	p := e.paceOf(seconds, cpu)
	p.total, p.unwatched = p.total.Add(own), p.unwatched.Add(own)
	if !showsPace(seconds, cpu) {
		return
	}
	now := interval{seconds, own, p}
	if e.last.pace != nil && e.last.pace != p { // the pace changed during one of the two intervals
		now.mayBeOf(e.last.pace)
		e.last.mayBeOf(p)
	}
	e.last = now
}

// mayBeOf widens the bounds of two paces, because a part of the interval may belong to the other pace.
func (i *interval) mayBeOf(other *pace) {
	part := min(i.own.High, i.seconds*other.cpus)
	other.unwatched.High += part
	i.pace.unwatched.Low = max(i.pace.unwatched.Low-part, 0)
}

// AddFirst adds the calls of functions that join now and were watched until now. The own time of these calls is not known.
func (e *Estimates) AddFirst(calls map[int]int) {
	p := e.paceOf(0, 0)
	p.stretches = append(p.stretches, Stretch{Calls: calls})
}

// AddTimed adds own time in which all sampled functions were watched, without numbers of calls.
func (e *Estimates) AddTimed(own Range) {
	p := e.paceOf(0, 0)
	p.total = p.total.Add(own)
}

// WasSampled reports whether a function was ever sampled.
func (e *Estimates) WasSampled(fn int) bool {
	return e.sampled[fn] || slices.ContainsFunc(e.paces, func(p *pace) bool { return p.closed[fn] != sum{} || p.uncounted[fn] != Range{} })
}

// IsSampled reports whether a function is sampled now.
func (e *Estimates) IsSampled(fn int) bool { return e.sampled[fn] }

// AddStretch adds a stretch. seconds is its duration, cpu the CPU time used.
func (e *Estimates) AddStretch(s Stretch, seconds, cpu float64) {
	p := e.paceOf(seconds, cpu)
	p.total = p.total.Add(s.Own)
	if s.Light != nil { // the other functions were not watched
		p.unwatched = p.unwatched.Add(s.Own)
		for _, fn := range s.Light {
			p.lightTime[fn] = p.lightTime[fn].Add(s.Own)
		}
	}
	if p.stretches = append(p.stretches, s); len(p.stretches) < maxStretches {
		return
	}
	for fn := range e.sampled {
		e.close(p, fn)
	}
	clear(p.joined)
	clear(p.lightTime)
	p.stretches, p.unwatched = nil, Range{}
}

// Unseen estimates the uncounted calls of a function. seen is the number of counted calls. The bounds hold for 40
// functions together in 19 of 20 runs.
func (e *Estimates) Unseen(fn int, seen uint64) Range {
	var s sum
	var total, gap Range // own time so far, and the part in which no stretch counted the function
	for _, p := range e.paces {
		total = total.Add(p.total)
	}
	for _, p := range e.paces {
		of, uncounted := p.closed[fn], p.uncounted[fn]
		switch {
		case !e.sampled[fn]:
		case p.counted(fn):
			of = p.estimate(fn)
		default:
			uncounted = uncounted.Add(p.uncountedTime(fn))
		}
		if uncounted.Typical > max(p.total.Typical/2, negligible*total.Typical) { // the rates of other paces do not apply here
			uncounted.High = math.Inf(1)
		}
		gap = gap.Add(uncounted)
		s = sum{s.calls + of.calls, s.below + of.below, s.above + of.above, s.variance + of.variance}
	}
	if gap.High > 0 { // estimated by the rate in the watched time, which may differ
		watched := Range{max(total.Low-gap.High, 0), max(total.Typical-gap.Typical, total.High/1e3), total.High}
		n, chance := float64(seen)+s.calls, stdErrors*math.Sqrt(float64(seen))
		most := maxRateChange * (n + chance - math.Log(0.005)) / watched.Low * gap.High
		s = s.add(n/watched.Typical*gap.Typical, 0, most, 0)
	}
	chance := math.Sqrt(s.variance)
	return Range{max(s.calls-math.Hypot(s.below, chance), 0), s.calls, s.calls + math.Hypot(s.above, chance)}
}

func (s sum) add(calls, low, high, chance float64) sum {
	return sum{s.calls + calls, s.below + calls - low, s.above + high - calls, s.variance + chance*chance}
}
