package parse

// order puts events of one goroutine in order of time.
//
// trace_pipe looks at one CPU after the other for the oldest event. A goroutine may
// leave an event on a CPU already looked at, move, and leave the next one where the
// search comes by: the later event is then printed first. The earlier one, though,
// was complete before the search for the next line began, and that search picks the
// oldest. So an event's place is certain as soon as a later search has printed a
// younger event, or found nothing.
type order struct {
	pending []Event // by time; a line or two
	spare   []Event // whose Args can be used again
}

// add takes an event, of which it makes a copy, and calls emit for those whose
// place has become certain.
func (o *order) add(ev *Event, emit func(*Event)) {
	n := 0
	for n < len(o.pending) && o.pending[n].Time <= ev.Time {
		n++
	}
	o.emit(n, emit)
	var cp Event
	if last := len(o.spare) - 1; last >= 0 {
		cp, o.spare = o.spare[last], o.spare[:last]
	}
	args := append(cp.Args[:0], ev.Args...)
	cp = *ev
	cp.Args = args
	// What is left is younger than ev.
	o.pending = append(o.pending, Event{})
	copy(o.pending[1:], o.pending)
	o.pending[0] = cp
}

// flush emits all: the buffers were found empty.
func (o *order) flush(emit func(*Event)) { o.emit(len(o.pending), emit) }

func (o *order) emit(n int, emit func(*Event)) {
	for i := range n {
		emit(&o.pending[i])
		o.spare = append(o.spare, o.pending[i])
	}
	o.pending = o.pending[:copy(o.pending, o.pending[n:])]
}
