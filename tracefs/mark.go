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
func (s *Session) Began() uint64 { return s.began }

// A pass that takes between narrow and wide is tried again, markTries times at most: whoever
// reads may have lost its CPU between two pages of the counters. One that takes longer has
// thousands of sites to read, since the kernel looks for its place in the list from the
// beginning for each page (fs/seq_file.c, seq_list_start).
const (
	narrow    = time.Millisecond
	wide      = 20 * time.Millisecond
	markTries = 4
)

// Now reads the clocks alone: Hits is nil.
func (s *Session) Now() (Mark, error) {
	clock, _, err := s.readClock()
	return Mark{Ticks: clock.Ticks, At: clock.At}, err
}

// Mark reads the clocks, and then all counters in one pass: the shortest of a few.
func (s *Session) Mark() (Mark, error) {
	best, err := s.mark()
	for try := 1; try < markTries && err == nil && narrow < best.Width && best.Width < wide; try++ {
		var again Mark
		if again, err = s.mark(); again.Width < best.Width {
			best = again
		}
	}
	return best, err
}

func (s *Session) mark() (m Mark, err error) {
	if m, err = s.Now(); err != nil {
		return m, err
	}
	text, err := s.readProfile()
	if err != nil {
		return m, err
	}
	m.Width = time.Since(m.At)
	if m.Hits, err = parseProfile(text, s.events); err != nil {
		// Somebody removes probes, see Profile: then it takes longer.
		m.Hits, err = s.Profile()
		m.Width = time.Since(m.At)
	}
	return m, err
}
