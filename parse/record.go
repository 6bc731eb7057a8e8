package parse

import "fmt"

// RecordKind tells which fields of a [Record] mean something.
type RecordKind int

// The zero RecordKind is that of a line that couldn't be read.
const (
	// EventRecord is a hit of one of our probes: Event is set.
	EventRecord RecordKind = iota + 1
	// LostRecord says that the ring buffer overwrote events before they were
	// read: CPU, Lost and Uncounted are set.
	LostRecord
	// StackRecord is a line of a stack trace, heading or frame, printed after an
	// event when one of the stack trace options is on.
	StackRecord
	// CommentRecord is a line of the header, or an empty one.
	CommentRecord
)

// String names the kind in a word.
func (k RecordKind) String() string {
	switch k {
	case 0:
		return "unreadable"
	case EventRecord:
		return "event"
	case LostRecord:
		return "lost"
	case StackRecord:
		return "stack"
	case CommentRecord:
		return "comment"
	}
	return fmt.Sprintf("RecordKind(%d)", int(k))
}

// Record is what one line of a trace says. It is made to be used again for the
// next line: Event.Args keeps its memory, so copy what is to be kept.
type Record struct {
	Kind  RecordKind
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
