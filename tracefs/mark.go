package tracefs

import "time"

// Mark is a moment of a session: what the clocks showed, and what the kernel had counted.
type Mark struct {
	// Ticks is the moment by the trace clock, in units of the events' time stamps; At by
	// the system's.
	Ticks uint64
	At    time.Time
	// Hits[i][j] is how often site j of event i had been hit, as [Session.Profile] has it.
	Hits [][]uint64
	// Width is how long reading the counters took, from Ticks on: those of two sites may be
	// of moments so far apart.
	Width time.Duration
}

// Began is the trace clock's time before the first probe was armed.
func (s *Session) Began() uint64 { return s.clocks.began }

// narrow is a width that is not worth trying again, markTries how often it is tried: whoever
// reads may lose its CPU between two pages of the counters.
const (
	narrow    = time.Millisecond
	markTries = 4
)

// Mark reads the clocks, and then all counters in one pass. Where the pass takes longer
// than a millisecond it is repeated, and the shortest is taken.
func (s *Session) Mark() (Mark, error) {
	var best Mark
	for try := range markTries {
		m, err := s.mark()
		if err != nil {
			return Mark{}, err
		}
		if try == 0 || m.Width < best.Width {
			best = m
		}
		if best.Width <= narrow {
			break
		}
	}
	return best, nil
}

func (s *Session) mark() (m Mark, err error) {
	clock, _, err := s.readClock()
	if err != nil {
		return m, err
	}
	text, err := s.readProfile()
	if err != nil {
		return m, err
	}
	m = Mark{Ticks: clock.ticks, At: clock.at, Width: time.Since(clock.at)}
	if m.Hits, err = parseProfile(text, s.events); err != nil {
		// Somebody removes probes, see Profile: then it takes longer.
		m.Hits, err = s.Profile()
		m.Width = time.Since(clock.at)
	}
	return m, err
}
