package parse

// retirement is the time, of the trace clock, in which the events that time a function
// were disarmed.
type retirement struct{ from, until uint64 }

// Retire says that the events which time functions were disarmed from one time of the trace clock
// until another, which is ^0 as long as that is under way. Of calls that were open meanwhile
// nothing tells the end: they are Abandoned. The functions may be timed again later.
func (s *Stream) Retire(funcs []int, from, until uint64) {
	if s.pairer.retired == nil {
		s.pairer.retired = make(map[int]retirement)
	}
	for _, fn := range funcs {
		s.pairer.retired[fn] = retirement{from, until}
	}
}

// trusted tells how a call ended that seems to have ended at a time. The return of a call
// that began before its function was retired, seen after it is timed again, may be another
// call's; and it is not unwound if only nothing has told of its return.
func (p *pairer) trusted(f *frame, how Outcome, at uint64) Outcome {
	r, ok := p.retired[f.fn]
	switch {
	case !ok || f.start > r.until:
		return how
	case how == Returned && at <= r.until, how == Unwound && at <= r.from:
		return how
	}
	return Abandoned
}
