package stats

import (
	"cmp"
	"slices"
)

// Seen is how much of a stretch of time a function's calls were seen in, where a budget has kept some
// from it.
type Seen struct {
	Timed, Counted, Of float64 // in seconds; Counted includes Timed, and is that which Calls are of
	Missed             float64 // the calls that nobody saw, as estimated
}

// Shares are those of the time in which calls were timed, and at least counted.
func (s Seen) Shares() (timed, counted float64) {
	if s.Of <= 0 {
		return 1, 1
	}
	return min(s.Timed/s.Of, 1), min(s.Counted/s.Of, 1)
}

// Plus is how much was seen of two stretches together.
func (s Seen) Plus(t Seen) Seen {
	return Seen{Timed: s.Timed + t.Timed, Counted: s.Counted + t.Counted, Of: s.Of + t.Of, Missed: s.Missed + t.Missed}
}

func (s Seen) since(earlier Seen) Seen {
	return Seen{
		Timed: max(s.Timed-earlier.Timed, 0), Counted: max(s.Counted-earlier.Counted, 0), Of: max(s.Of-earlier.Of, 0),
		Missed: max(s.Missed-earlier.Missed, 0),
	}
}

// FunctionSeen is how much a function was seen.
type FunctionSeen struct {
	Function string
	Seen
}

// Away are those of functions that were not seen, or not timed, for some of the time, because they were too
// hot, or shared their probes with one; those first of which most calls were missed.
func Away(funcs []FunctionSeen, tooHot []float64) (away []FunctionSeen) {
	for i, f := range funcs {
		if timed, counted := f.Shares(); counted < 1 || timed < 1 && tooHot[i] > 0 {
			away = append(away, f)
		}
	}
	slices.SortStableFunc(away, func(a, b FunctionSeen) int { return cmp.Compare(b.Missed, a.Missed) })
	return away
}
