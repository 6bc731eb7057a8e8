// Package parse reads what the kernel has traced: lines of trace_pipe or of a trace file, or
// records of pages of its ring buffer, become events, in order of time. It knows no call.
//
// The package opens nothing, writes nothing and keeps no clock: a [Source] hands over bytes, or
// [Pages], and a [Reader] makes events of them. A line that can't be read is counted, and is not the end.
//
// # What a line is worth
//
// The kernel prints a line of a uprobe event as
//
//	COMM-TID [(TGID)] [CPU] [FLAGS] TIME: EVENT: (0xADDR) NAME=VALUE ...
//
// (kernel/trace/trace_output.c, trace_print_context; trace_uprobe.c,
// print_uprobe_event) and prints COMM, at most 15 bytes that belong to the
// traced thread, as they are: newlines, escape sequences and imitations of
// everything to the right of them included. Such a name splits a line or
// decorates it, but can't invent an event, because
//
//   - an event is recognised by a name of ours of at least 16 bytes, which
//     doesn't fit into COMM;
//   - the columns are read from that name to the left, so that of two thread
//     ids or CPUs the one next to the name counts, which the kernel wrote;
//   - the thread id must start where the kernel starts it, at most 16 columns
//     in, so that a longer string (a file name of another event in the same
//     buffer) can't hold a whole imitation;
//   - a line of lost events, "CPU:1 [LOST 9 EVENTS]", is longer than COMM and
//     counts only as a complete line.
//
// One thing is outside its reach: another event in the same buffer that prints
// a string of the target's with newlines in it. Don't enable such events
// beside ours.
package parse

// Event is one hit of one of our probes, or an event of the kernel itself.
type Event struct {
	// Kernel: it is one of the kernel's own, which has Fields instead of Addr and Args.
	Kernel bool
	// Format is the index of the event in the list that the reader was made with, or in the
	// descriptions of the kernel's own.
	Format int
	// Time is in the units of the trace clock: nanoseconds for clocks that print
	// seconds and microseconds, a bare count (x86-tsc: cycles) otherwise.
	Time uint64
	// CPU is where it happened.
	CPU int
	// TID is the thread that ran then, PID its process as the line tells: 0 where it has no TGID
	// column or the kernel had forgotten it ("-----"), and of raw pages. Of an event that is about
	// another thread, like sched:sched_waking, it is the one that did it; 0 is the idle thread.
	TID, PID int
	// Addr is the probed address in the process, load bias included.
	Addr uint64
	// Args are the fetched values in the order of the event's arguments, signed ones in
	// two's complement, an array's elements one after the other.
	Args []uint64
	// Of the kernel's own: the record, and how it lies.
	data  []byte
	named []formatField
}
