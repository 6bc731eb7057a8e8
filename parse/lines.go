package parse

import (
	"bytes"
	"strconv"
)

// maxLine is the length in bytes, newline excluded, of the longest line that a
// splitter passes on. The kernel's own lines are shorter: a record holds about
// a page, and its text is cut at a page or two (struct trace_seq in
// include/linux/trace_seq.h).
const maxLine = 64 << 10

// splitter cuts a stream that arrives in chunks into lines.
type splitter struct {
	buf     []byte
	held    int  // bytes at the start of buf: a line without its newline yet
	skip    bool // the line at hand is too long: wait for its end
	dropped int  // lines that were longer than maxLine
}

// room is where the next chunk goes.
func (s *splitter) room() []byte {
	if s.buf == nil {
		s.buf = make([]byte, 2*maxLine)
	}
	return s.buf[s.held:][:maxLine]
}

// feed calls yield with every line that the n bytes in room complete, without its newline. It is
// valid until yield returns.
func (s *splitter) feed(n int, yield func(line []byte)) {
	text, searched := s.buf[:s.held+n], s.held
	for {
		i := bytes.IndexByte(text[searched:], '\n')
		if i < 0 {
			break
		}
		line := text[:searched+i]
		text, searched = text[len(line)+1:], 0
		if !s.skip && len(line) <= maxLine {
			yield(line)
		} else if !s.skip {
			s.dropped++
		}
		s.skip = false
	}
	if !s.skip && len(text) > maxLine {
		s.dropped++
		s.skip = true
	}
	if s.skip {
		text = nil
	}
	s.held = copy(s.buf[:], text)
}

// rest is the line that has no newline yet, valid until the next feed. At the
// end of a stream it is one that was cut off, perhaps in the middle of a number:
// count it, but don't parse it.
func (s *splitter) rest() []byte { return s.buf[:s.held] }

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

// brokenName is the name of a thread that has newlines in it, of which the kernel makes
// several lines: names are printed as they are, right-aligned in a column of maxComm bytes.
type brokenName struct {
	len   int    // bytes of the lines so far that may be pieces of it, with their newlines
	lines uint64 // those of them that were not understood
}

// piece takes a line that is no event's.
func (b *brokenName) piece(line []byte, understood bool) {
	b.len += len(line) + len("\n")
	if !understood {
		b.lines++
	}
}

// end takes the line of an event of a thread, and returns how many lines before it were
// not understood for being pieces of the thread's name: those with which it fills its
// column. Nothing that the kernel prints beside is that short.
func (b *brokenName) end(line []byte, tid int) (pieces uint64) {
	if b.len <= maxComm {
		var id [24]byte
		if bytes.HasPrefix(line[maxComm-b.len:], strconv.AppendInt(id[:0], -int64(tid), 10)) {
			pieces = b.lines
		}
	}
	*b = brokenName{}
	return pieces
}
