package parse

import (
	"bytes"
	"strconv"
)

// maxLine is the maximum length of a line in bytes, without its newline. A splitter drops longer lines. The kernel's
// own lines are shorter: a record holds about a page, and the kernel cuts its text at a page or two (struct
// trace_seq in include/linux/trace_seq.h).
const maxLine = 64 << 10

// splitter cuts a stream that arrives in chunks into lines.
type splitter struct {
	buf     []byte
	held    int  // bytes of an incomplete line at the start of buf
	skip    bool // the present line is too long and is skipped up to its end
	dropped int  // the number of lines longer than maxLine
}

// room returns the memory for the next chunk.
func (s *splitter) room() []byte {
	if s.buf == nil {
		s.buf = make([]byte, 2*maxLine)
	}
	return s.buf[s.held:][:maxLine]
}

// feed calls yield with every line that the first n bytes in room complete, without its newline. The line is valid
// until yield returns.
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

// rest returns the incomplete line, valid until the next feed. At the end of a stream it was cut off, perhaps within
// a number, so it must not be parsed.
func (s *splitter) rest() []byte { return s.buf[:s.held] }

// brokenName recognizes lines that are pieces of a thread's name with newlines in it. The kernel prints names
// unchanged, right-aligned in a column of maxComm bytes.
type brokenName struct {
	len   int    // bytes of the lines since the last event, with their newlines
	lines uint64 // the number of these lines that could not be parsed
}

// piece adds a line without an event.
func (b *brokenName) piece(line []byte, understood bool) {
	b.len += len(line) + len("\n")
	if !understood {
		b.lines++
	}
}

// end adds the line of an event of a thread. If the lines since the last event and the beginning of this line together are a
// thread's name that fills the column, it returns the number of these lines that could not be parsed, else 0. All other
// lines of the kernel are longer than the column.
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
