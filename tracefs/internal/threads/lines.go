// Package threads tells the processes of threads: /proc does while a thread is there, and then
// what the kernel has noted.
package threads

import (
	"maps"

	"github.com/ftgo/ftgo/internal/procfs"
)

// OfLines knows the processes of threads that lines of text name.
//
// The TGID column is what the kernel noted when the thread was last switched to while
// something recorded TGIDs (tracing_record_taskinfo_sched_switch in
// kernel/trace/trace_sched_switch.c, since 4.13), and it is looked up when the line is
// printed. The notes are never cleared: until a new thread is switched, the column shows
// the process of an earlier thread of the same number. So /proc is asked first.
type OfLines struct {
	known map[int]threadProcess
	// recent are some of known, by the lowest bits of the thread's number.
	recent [64]struct {
		tid int
		threadProcess
	}
}

type threadProcess struct {
	printed int // the column, when it was last looked at
	process int
}

// NewOfLines knows nothing yet.
func NewOfLines() *OfLines { return &OfLines{known: make(map[int]threadProcess)} }

// Process returns the process of a thread, 0 if it is unknown. printed is the TGID column of
// the thread's newest line, 0 where it has none.
func (t *OfLines) Process(tid, printed int) int {
	recent := &t.recent[tid&63]
	if recent.tid == tid && recent.printed == printed && recent.process != 0 {
		return recent.process
	}
	seen, known := t.known[tid]
	switch {
	case known && (seen.printed == printed || printed == 0):
		return seen.process
	case known:
		seen = threadProcess{printed, printed} // noted anew
	default:
		seen = threadProcess{printed, procfs.ThreadGroup(tid)}
		if seen.process == 0 { // it has ended, and was noted when it was switched away from
			seen.process = printed
		}
	}
	if seen.process != 0 {
		t.known[tid] = seen
		recent.tid, recent.threadProcess = tid, seen
	}
	return seen.process
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: others may get their numbers, and those of their threads.
func (t *OfLines) Forget(ended map[int]bool) {
	maps.DeleteFunc(t.known, func(_ int, seen threadProcess) bool { return ended[seen.process] })
	clear(t.recent[:])
}
