package parse

// window is the stretch of time whose events are paired, its ends included, in the units
// of the trace clock. What was recorded outside of it is counted in accounting.outside alone.
type window struct{ first, from, until uint64 }

func (w *window) has(time uint64) bool {
	return time <= w.until && (time >= w.from || time < w.first)
}

// mark is a moment among the events, and who is told when it has come.
type mark struct {
	at      uint64
	reached func()
}

// Begin leaves out the events of before a time of the trace clock. None is older than
// first, unless the clock has begun anew, as it may when a machine wakes up: those are in.
func (s *Stream) Begin(first, from uint64) {
	s.pairer.window.first, s.pairer.window.from = first, from
}

// End leaves out the events of after a time of the trace clock. Calls that are open then
// stay open. A stream that has ended by itself, see [Options].Limit, has ended earlier.
func (s *Stream) End(until uint64) { s.pairer.window.until = min(s.pairer.window.until, until) }

// Ended is the time of the event that ended the stream by itself.
func (s *Stream) Ended() (at uint64, ok bool) {
	return s.pairer.window.until, s.pairer.full()
}

// Within tells whether a time is within the stream's window.
func (s *Stream) Within(time uint64) bool { return s.pairer.window.has(time) }

// Mark has reached called when all events of until a time of the trace clock, which is
// now, have been paired, and none of later.
func (s *Stream) Mark(at uint64, reached func()) {
	s.marks = append(s.marks, mark{at, reached})
}

// pass calls the marks of before a time.
func (s *Stream) pass(time uint64) {
	for len(s.marks) > 0 && s.marks[0].at < time {
		reached := s.marks[0].reached
		s.marks = s.marks[1:]
		reached()
	}
}

// full tells whether as many calls have ended as are wanted.
func (p *pairer) full() bool { return p.limit > 0 && p.done >= p.limit }

// finished counts a call that has ended, or of which no more than its begin is seen.
func (p *pairer) finished(at uint64) {
	if p.done++; p.full() {
		p.window.until = min(p.window.until, at)
	}
}
