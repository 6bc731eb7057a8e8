package ftrace

import "fmt"

// recordKind tells which fields of a record mean something.
type recordKind int

// The zero recordKind is that of a line that couldn't be read.
const (
	// eventRecord is a hit of one of our probes: Event is set.
	eventRecord recordKind = iota + 1
	// lostRecord says that the ring buffer overwrote events before they were
	// read: CPU, Lost and Uncounted are set.
	lostRecord
	// stackRecord is a line of a stack trace, heading or frame, printed after an
	// event when one of the stack trace options is on.
	stackRecord
	// commentRecord is a line of the header, or an empty one.
	commentRecord
)

// String names the kind in a word.
func (k recordKind) String() string {
	switch k {
	case 0:
		return "unreadable"
	case eventRecord:
		return "event"
	case lostRecord:
		return "lost"
	case stackRecord:
		return "stack"
	case commentRecord:
		return "comment"
	}
	return fmt.Sprintf("recordKind(%d)", int(k))
}

// record is what one line of a trace says. It is made to be used again for the
// next line: Event.Args keeps its memory, so copy what is to be kept.
type record struct {
	Kind  recordKind
	Event Event
	// CPU is the one whose buffer overflowed, Lost the number of events that
	// were overwritten in it.
	CPU  int
	Lost uint64
	// Uncounted says that events were lost but not how many, Lost being 0: the
	// kernel can't count them when it reads without consuming, as the trace file
	// does (since 5.7; print_trace_line in kernel/trace/trace.c).
	Uncounted bool
}
