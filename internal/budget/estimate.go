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
	pace  *pace        // of the last moment
	last  interval     // without any stretch in it
	away  map[int]bool // functions that are not watched all the time now
}

// interval is a time in which no sampled function was watched.
type interval struct {
	seconds float64
	own     Range
	pace    *pace
}

// sum is an estimate of calls that nobody saw. What bounds it from either side adds up: systematic errors by their size, chance by its variance.
type sum struct{ calls, below, above, variance float64 }

const (
	// A program keeps another pace where it keeps so many times as many CPUs busy, or as few, for a moment of at least so many seconds: the
	// kernel adds up the time of a thread that runs every 4 ms or less often.
	otherPace, paceMoment = 5, 0.02
	leastPace             = 0.001 // CPUs
	// negligible is the part of the program's time in which a function is taken to do what it does else.
	negligible = 0.05
	// mostTrusting is from how many stretches on a witness is trusted to be called when others are.
	mostTrusting = 12
	// mostStretches is how many stretches a period has.
	mostStretches = 48
)

// telling tells whether a moment shows which pace the program kept: it was long enough, or the program worked for some of the kernel's ticks.
func telling(seconds, cpu float64) bool { return seconds >= paceMoment || cpu >= paceMoment/2 }

// at is the pace of a moment that took so long and so much CPU time, in seconds.
func (e *Estimates) at(seconds, cpu float64) *pace {
	cpus, nearest := 0.0, float64(otherPace)
	if telling(seconds, cpu) {
		cpus = max(cpu/seconds, leastPace)
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
		e.pace = &pace{cpus: cpus, joined: make(map[int]joining), gaps: make(map[int]Range), only: make(map[int]Range), closed: make(map[int]sum)}
		e.paces = append(e.paces, e.pace)
	}
	return e.pace
}

// Join says that a function is sampled from now on.
func (e *Estimates) Join(fn int) {
	if e.away == nil {
		e.away = make(map[int]bool)
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
		p.gaps[fn] = p.gaps[fn].Add(gap)
	}
}

// Pause adds own time in which no sampled function was watched, of a moment that took so long and so much CPU time.
func (e *Estimates) Pause(own Range, seconds, cpu float64) {
	p := e.at(seconds, cpu)
	p.total, p.unwatched = p.total.Add(own), p.unwatched.Add(own)
	if !telling(seconds, cpu) {
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
func (e *Estimates) Watched(own Range) {
	p := e.at(0, 0)
	p.total = p.total.Add(own)
}

// total is the own time so far.
func (e *Estimates) total() (own Range) {
	for _, p := range e.paces {
		own = own.Add(p.total)
	}
	return own
}

// Sampled tells whether a function was not watched all the time.
func (e *Estimates) Sampled(fn int) bool {
	return e.away[fn] || slices.ContainsFunc(e.paces, func(p *pace) bool { return p.closed[fn] != sum{} || p.gaps[fn] != Range{} })
}

// Away tells whether a function is not watched now.
func (e *Estimates) Away(fn int) bool { return e.away[fn] }

// Add adds a stretch, of a moment that took so long and so much CPU time.
func (e *Estimates) Add(s Stretch, seconds, cpu float64) {
	p := e.at(seconds, cpu)
	p.total = p.total.Add(s.Own)
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
	total := e.total()
	var gap Range
	for _, p := range e.paces {
		of, uncounted := p.closed[fn], p.gaps[fn]
		switch {
		case !e.away[fn]:
		case p.counted(fn):
			of = p.of(fn)
		default:
			uncounted = uncounted.Add(p.away(fn))
		}
		if uncounted.Typical > max(p.total.Typical/2, negligible*total.Typical) { // what it does else says nothing of this pace
			uncounted.High = math.Inf(1)
		}
		gap = gap.Add(uncounted)
		s = sum{s.calls + of.calls, s.below + of.below, s.above + of.above, s.variance + of.variance}
	}
	if gap.High > 0 { // the rate is that of the time in which it was watched, and may have been another one
		watched := Range{max(total.Low-gap.High, 0), max(total.Typical-gap.Typical, total.High/1e3), total.High}
		n, chance := float64(seen)+s.calls, sure*math.Sqrt(float64(seen))
		most := unlike * (n + chance - math.Log(0.005)) / watched.Low * gap.High
		s = s.add(n/watched.Typical*gap.Typical, 0, most, 0)
	}
	chance := math.Sqrt(s.variance)
	return Range{max(s.calls-math.Hypot(s.below, chance), 0), s.calls, s.calls + math.Hypot(s.above, chance)}
}

func (s sum) add(calls, low, high, chance float64) sum {
	return sum{s.calls + calls, s.below + calls - low, s.above + high - calls, s.variance + chance*chance}
}
