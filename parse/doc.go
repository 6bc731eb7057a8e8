// Package parse turns a trace into values: a line of the kernel's trace_pipe or trace
// file, or a record of a page of its ring buffer, into an [Event], and events into calls.
//
// Text, or pages, come in and values go out. The package opens nothing, writes nothing
// and keeps no clock; whoever reads the file hands the bytes to a [Splitter],
// its lines to a [LineParser], and decides what to do with a line that could
// not be read: a [SyntaxError] is an item of the stream, not its end.
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
