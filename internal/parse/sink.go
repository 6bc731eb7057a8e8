package parse

import "github.com/ftgo/ftgo/internal/ftrace"

// Source is where a trace comes from: a tracefs.Session, or a recording. It gives the text of
// trace_pipe, or, if it has the methods of a tracefs.Session for them, raw pages.
type Source = ftrace.Source

// KernelSource is where events of the kernel itself come from: a tracefs.KernelSession.
type KernelSource = ftrace.KernelSource

// Processes is what a [Stream] asks about the processes that events come from.
type Processes interface {
	// Of finds the process of a thread, of which the line names what the kernel remembers,
	// or 0: see tracefs.Session.Process.
	Of(tid, printed int) int
	// Wanted tells whether events of a thread are wanted, and, in the order of time, which
	// process it is of; Of has found pid.
	Wanted(tid, pid int) (process int, wanted bool)
	// Bias finds the distance between addresses in a process and in the file, or says that it
	// takes more addresses to tell. It is 0 for programs that are not position-independent.
	Bias(pid int, addr uint64) (bias uint64, ok bool)
}

// Sink takes what a [Stream] makes of events, in order. What it gets is valid until the method
// returns.
type Sink interface {
	// Counted is told of each call when it begins, those that are only counted, too.
	Counted(pid, fn int)
	// Entry gets each call that is paired when it begins, if [Options].Entries asks for it, in
	// the order in which they do on their goroutine: End and Outcome mean nothing yet.
	Entry(c *Call)
	// Return gets each call that is paired when it has ended, whatever its Outcome.
	Return(c *Call)
	// Kernel gets the events of [Options].Kernel.
	Kernel(ev *KernelEvent)
}

// Options are what else a [Stream] is to do.
type Options struct {
	// Entries: the sink wants Entry to be called.
	Entries bool
	// Inside names functions, by their index in Plan.Funcs: what is called while they are open
	// is marked.
	Inside map[int]bool
	// Limit ends the stream by itself with the event that ends the n-th call, or begins it if it
	// is of a function whose calls are only counted. 0 is no limit.
	Limit uint64
	// Kernel adds the kernel's own events; nil is none.
	Kernel KernelSource
}
