package stats

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

func (s Seen) since(earlier Seen) Seen {
	return Seen{
		Timed: max(s.Timed-earlier.Timed, 0), Counted: max(s.Counted-earlier.Counted, 0), Of: max(s.Of-earlier.Of, 0),
		Missed: max(s.Missed-earlier.Missed, 0),
	}
}
