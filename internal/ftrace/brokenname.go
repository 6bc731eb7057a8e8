package ftrace

import (
	"bytes"
	"strconv"
)

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
