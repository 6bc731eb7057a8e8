package ftrace

import "bytes"

// maxLine is the length in bytes, newline excluded, of the longest line that a
// splitter passes on. The kernel's own lines are shorter: a record holds about
// a page, and its text is cut at a page or two (struct trace_seq in
// include/linux/trace_seq.h).
const maxLine = 64 << 10

// splitter cuts a stream that arrives in chunks into lines. Its zero value is at
// the beginning of a stream.
type splitter struct {
	tail    []byte // of the last chunk, without its newline yet
	skip    bool   // the line at hand is too long: wait for its end
	dropped int    // lines that were longer than maxLine
}

// feed calls yield with every line that chunk completes, without its newline.
// The bytes are the chunk's or the splitter's own and valid until yield returns;
// the chunk may be used again when feed has returned.
func (s *splitter) feed(chunk []byte, yield func(line []byte)) {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			s.hold(chunk)
			return
		}
		line := chunk[:i]
		chunk = chunk[i+1:]
		switch {
		case s.skip:
			s.skip = false
		case len(s.tail)+len(line) > maxLine:
			s.dropped++
			s.tail = s.tail[:0]
		case len(s.tail) > 0:
			line = append(s.tail, line...)
			s.tail = line[:0]
			yield(line)
		default:
			yield(line)
		}
	}
}

// hold keeps the start of a line until the rest of it comes.
func (s *splitter) hold(part []byte) {
	switch {
	case s.skip:
	case len(s.tail)+len(part) > maxLine:
		s.dropped++
		s.skip = true
		s.tail = s.tail[:0]
	default:
		s.tail = append(s.tail, part...)
	}
}

// rest is the line that has no newline yet, valid until the next feed. At the
// end of a stream it is one that was cut off, perhaps in the middle of a number:
// count it, but don't parse it.
func (s *splitter) rest() []byte { return s.tail }
