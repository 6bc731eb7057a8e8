package parse

import "github.com/ftgo/ftgo/internal/ftrace"

// KernelField is a value of a kernel event.
type KernelField = ftrace.KernelField

// KernelEvent is an event of the kernel itself.
type KernelEvent struct {
	ftrace.KernelEvent
	// Where is what the thread is known to have been doing.
	Where Where
}

// Where is what a thread was doing at some time.
type Where struct {
	// Known: it is known which stack the thread was on.
	Known bool
	// Goid is the goroutine; 0 if that is not known, or if there was none.
	Goid uint64
	// Func is the index in Plan.Funcs of the innermost traced call that was open there, Depth
	// the number of those that it was inside of; Func is -1 if none was.
	Func, Depth int
	// Start is when that call began, Inside what its Call.Inside is.
	Start  uint64
	Inside bool
}
