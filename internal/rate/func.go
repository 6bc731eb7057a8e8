// Package rate decides how much of each function's calls is seen: whether they are timed, or counted,
// or not seen at all. It goes by what their probes take of the program's CPU time.
package rate

import "math"

// Level is how much of a function's calls is seen.
type Level uint8

const (
	Off     Level = iota // none of the function's probes is armed
	Counted              // calls are counted where they begin
	Timed                // calls are seen to begin and to end
)

// Func is one function.
type Func struct {
	// Counts and Times tell whether the function can be Counted, and Timed; Stays that it is never
	// lowered below Counted, because nobody has set a budget.
	Counts, Times, Stays bool
	// Cost is what the probes of a call take of the program's time at each level, in seconds.
	Cost [Timed + 1]float64

	at      Level
	since   float64            // when it got there
	held    [Timed + 1]float64 // how long it has been at each level before
	groups  [Timed + 1]*Group  // of its probes for each level, nil if there are none
	calls   uint64             // so far
	rate    float64            // in calls per second, when they were last seen
	clean   float64            // what the rate would have been at most if nothing had been probed
	likely  float64            // what it would have been
	load    float64            // the CPU time that its probes would have taken then, in seconds per second
	full    bool               // the load is that of the level that it is at
	back    Level              // where it was when its group was disarmed for another's sake
	strikes int                // how often in a row it was lowered soon after it had come back
	came    float64            // when it did
	ceiling Level              // above which it is not to be until retry
	retry   float64
	missed  float64 // calls that nobody saw, as estimated
	away    float64 // how long it was not seen before it was seen again: missed lacks that
	tooHot  float64 // as TooHot
}

// Group is of functions whose probes are armed and disarmed together, because they share events.
type Group struct {
	Level Level // what the probes are for
	// Beside: calls are timed, while probes of another group count them.
	Beside bool
	Funcs  []int
	Armed  bool
	Tried  bool // it was too hot, and may be again: the next look should come soon
	First  bool // the functions had no probes before
}

// At is the function's level.
func (f *Func) At() Level { return f.at }

// TooHot is the rate, in calls per second, for which the function is below where it could be; 0 if it
// is not.
func (f *Func) TooHot() float64 { return f.tooHot }

// unplaced tells whether the function has never had probes.
func (f *Func) unplaced() bool { return f.groups == [Timed + 1]*Group{} }

// blind tells whether calls are timed beside a Counter that is disarmed: the probes see nothing, and take
// their time all the same.
func (f *Func) blind() bool {
	g := f.groups[Timed]
	return f.at == Off && g != nil && g.Armed
}

// below is the next lower level, the same if there is none.
func (f *Func) below(l Level) Level {
	switch {
	case l == Timed && f.Counts:
		return Counted
	case f.Stays:
		return l
	}
	return Off
}

// above is the next higher level, the same if there is none.
func (f *Func) above(l Level) Level {
	switch {
	case l < Counted && f.Counts:
		return Counted
	case l < Timed && f.Times:
		return Timed
	}
	return l
}

// loadAt is what the probes would take at a level if nothing else was probed, without what they take
// in any case.
func (f *Func) loadAt(l Level) float64 {
	load := f.clean * f.Cost[l]
	if l == f.at && f.full {
		load = f.load
	}
	if f.Stays {
		load -= f.clean * f.Cost[Counted]
	}
	return max(load, 0)
}

// set notes that the function is at a level from a moment on.
func (f *Func) set(l Level, now float64) {
	if l == f.at {
		return
	}
	f.held[f.at] += now - f.since
	if f.at == Off {
		f.away += now - f.since
	}
	f.at, f.since, f.full = l, now, false
}

// shortest is how long, in seconds, a function must have been seen for its rate to be known.
const shortest = 0.02

// saw takes the number of calls so far, and what their probes have cost since the last look. Without
// any probes the program would have been faster by a factor.
func (f *Func) saw(calls uint64, cost, looked, now, speedup, beyond float64) {
	fresh := float64(calls - min(f.calls, calls))
	f.calls = calls
	if f.at == Off {
		load := cost / (now - looked) * speedup
		f.hit(fresh/(now-looked)*speedup, load, beyond)
		if f.full = f.blind(); f.full {
			f.load = load
		}
		return
	}
	seconds := now - max(looked, f.since)
	if seconds < shortest && fresh <= f.rate*shortest {
		return
	}
	before, known := f.likely, f.held[Counted]+f.held[Timed] > 0
	f.rate = fresh / max(seconds, shortest)
	f.clean, f.load, f.full = f.rate*speedup, cost/max(seconds, shortest)*speedup, true
	if f.likely = f.clean * beyond; !known {
		before = f.likely
	}
	f.missed += f.away * (before + f.likely) / 2
	f.away = 0
}

// hit takes the rate of a function that is off, and what its probes have cost: it was hit until they were
// disarmed. What turned hot had only begun to when that was seen.
func (f *Func) hit(rate, load, beyond float64) {
	if rate > f.clean {
		f.clean, f.likely, f.load = rate, rate*beyond, max(f.load, load)
	}
}

// Backoff: what has been lowered comes back after a second, and after twice as long each time that it
// was lowered again soon after that.
const (
	firstBackoff = 1.0
	maxBackoffs  = 6 // so often it is doubled
)

// strike notes that the function is lowered to a level for its own sake.
func (f *Func) strike(l Level, now float64) {
	backoff := firstBackoff * math.Exp2(float64(min(f.strikes, maxBackoffs)))
	if now-f.came > 10*backoff {
		f.strikes, backoff = 0, firstBackoff
	}
	f.strikes++
	f.ceiling, f.retry, f.tooHot, f.back = l, now+backoff, f.rate, Off
}

// Seen is how much of a stretch of time a function was seen in.
type Seen struct {
	Timed, Counted, Of float64 // in seconds; Counted includes Timed
	Missed             float64 // calls that nobody saw, as estimated from how many there were before
}

// Begin has what is Seen begin now.
func (c *Choice) Begin(now float64) {
	for i := range c.Funcs {
		f := &c.Funcs[i]
		f.since, f.held, f.missed, f.away = now, [Timed + 1]float64{}, 0, 0
	}
}

// Seen is what was seen of the function until a moment, which may be before it got to its level: what is
// read is a little older than what is done.
func (f *Func) Seen(now float64) Seen {
	held, missed := f.held, f.missed+f.away*f.likely
	held[f.at] += now - f.since
	if f.at == Off {
		missed += f.likely * (now - f.since)
	}
	s := Seen{Timed: held[Timed], Counted: held[Timed] + held[Counted], Of: held[Timed] + held[Counted] + held[Off], Missed: max(missed, 0)}
	s.Counted = min(max(s.Counted, 0), s.Of)
	s.Timed = min(max(s.Timed, 0), s.Counted)
	return s
}
