// Package parse parses the kernel's traces. It turns lines of trace_pipe or of a trace file, or records of the
// ring buffer's pages, into events in the order of their times. It does not combine events into calls.
//
// The package opens no file and reads no clock: a [Source] provides bytes, or [Pages], and a [Reader] turns them
// into events. It counts a line that it can't parse and goes on.
//
// # Untrusted lines
//
// The kernel prints a line of a uprobe event as
//
//	COMM-TID [(TGID)] [CPU] [FLAGS] TIME: EVENT: (0xADDR) NAME=VALUE ...
//
// (kernel/trace/trace_output.c, trace_print_context; trace_uprobe.c, print_uprobe_event). COMM is the name of the
// traced thread, at most 15 bytes. The thread chooses them, and the kernel prints them unchanged: they may hold
// newlines, escape sequences, and imitations of the columns to their right. Such a name can split a line or
// change its look, but can't forge an event, because
//
//   - the parser recognizes an event by its name, which has at least 16 bytes and doesn't fit into COMM;
//   - it parses the columns from the event's name to the left. If a line has two thread ids or CPUs, it takes the one next
//     to the event's name, which the kernel wrote;
//   - the thread id must start where the kernel starts it, at most 16 columns in, so that a longer string (a
//     file name of another event in the same buffer) can't hold a whole imitation;
//   - a line about lost events, "CPU:1 [LOST 9 EVENTS]", is longer than COMM, and the parser takes it only if it
//     is complete.
//
// The parser can be deceived by another event in the same buffer that prints a string of the traced program with
// newlines in it. Don't enable such events together with probes.
package parse

// Event is a hit of a probe, or a kernel event, such as a switch of threads.
type Event struct {
	// Kernel means that this is a kernel event, which has Fields instead of Addr and Args.
	Kernel bool
	// Format is the index of a hit's event in the list passed to NewReader or Extend. For a kernel event it is the index of
	// its description in the result of Formats.
	Format int
	// Time is in the units of the trace clock: nanoseconds for clocks that print seconds and microseconds, else
	// a count (x86-tsc: cycles).
	Time uint64
	// CPU is the number of the CPU that recorded the event.
	CPU int
	// TID is the thread that was running, and 0 for the idle thread. For an event about another thread, such as
	// sched:sched_waking, TID is the waking thread, not the woken thread. PID is the process of the thread. PID is 0 if the
	// line has no TGID column or the kernel has forgotten the process ("-----"), and in raw pages.
	TID, PID int
	// Addr is the probed address in the process, load bias included.
	Addr uint64
	// Args are the fetched values in the order of the event's arguments. Signed values are in two's complement.
	// The elements of an array follow each other.
	Args []uint64
	// data is the record of a kernel event in the ring buffer. named describes the record's fields.
	data  []byte
	named []field
}
