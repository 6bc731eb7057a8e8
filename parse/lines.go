package parse

import "bytes"

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
