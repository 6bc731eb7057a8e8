package ftrace

// order puts events of one goroutine in order of time.
//
// trace_pipe looks at one CPU after the other for the oldest event. A goroutine may
// leave an event on a CPU already looked at, move, and leave the next one where the
// search comes by: the later event is then printed first. The earlier one, though,
// was complete before the search for the next line began, and that search picks the
// oldest. So an event's place is certain as soon as a later search has printed a
// younger event, or found nothing.
type order struct {
	pending []*Event // the youngest first; a line or two
	spare   []*Event
}

// add takes an event, calls emit for those whose place has become certain, and returns another to
// be filled meanwhile.
func (o *order) add(ev *Event, emit func(*Event)) *Event {
	if len(o.pending) == 1 && o.pending[0].Time <= ev.Time { // as most often
		earlier := o.pending[0]
		o.pending[0] = ev
		emit(earlier)
		return earlier
	}
	for n := len(o.pending); n > 0 && o.pending[n-1].Time <= ev.Time; n-- {
		o.emitOldest(emit)
	}
	o.pending = append(o.pending, ev) // what is left is younger
	if last := len(o.spare) - 1; last >= 0 {
		ev, o.spare = o.spare[last], o.spare[:last]
		return ev
	}
	return &Event{}
}

// flush emits all: the buffers were found empty.
func (o *order) flush(emit func(*Event)) {
	for len(o.pending) > 0 {
		o.emitOldest(emit)
	}
}

func (o *order) emitOldest(emit func(*Event)) {
	last := len(o.pending) - 1
	oldest := o.pending[last]
	emit(oldest)
	o.pending, o.spare = o.pending[:last], append(o.spare, oldest)
}
