package tracefs

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// threads finds the process of a thread that a hit names, in /proc while the thread exists, and in the kernel's
// saved_tgids after it has ended.
//
// The kernel saves the TGID of a thread when it switches to or from the thread while any instance records TGIDs
// (tracing_record_taskinfo_sched_switch in kernel/trace/trace_sched_switch.c, since 4.13). So it has saved the TGID of
// each thread that has ended. trace_pipe looks the saved TGID up when it prints a line, and shows it in the TGID
// column. The kernel never clears saved TGIDs: until it switches to a new thread, it shows the process of an earlier
// thread with the same number. So /proc comes first.
type threads struct {
	// known holds the threads that were looked up. Their number is limited, because Forget is called neither for processes
	// that are not selected nor for processes in other PID namespaces.
	known map[int]thread
	// recent has some of these threads, by the lowest bits of their numbers. Each pass over pages empties it.
	recent [64]struct{ tid, printed, process int }
	// The other fields are for pages. readTGIDs reads saved_tgids as a map from thread to process; savedTGIDs is
	// its result in the pass that began at savedAt. The present pass began at passTime.
	readTGIDs  func() map[int]int
	savedTGIDs map[int]int
	savedAt    time.Time
	passTime   time.Time
}

type thread struct {
	printed int // the TGID column at the last lookup, 0 for pages
	process int
	checked time.Time // when the pass began in which the thread was last looked up
}

// trustTime is how long the lookup of a thread of a page is valid. Later, the number may belong to another thread. For
// text, a changed TGID column shows this.
const trustTime = time.Second

// maxThreads is the maximum number of known threads.
const maxThreads = 16384

// beginPass starts a pass over the pages of all CPUs.
func (t *threads) beginPass(now time.Time) {
	t.passTime = now
	clear(t.recent[:])
}

// Process returns the process of a thread, or 0 if it is unknown or the thread is a CPU's idle thread. printed is the
// TGID column of the thread's newest line, 0 if the line has none. Pages have no such column.
func (t *threads) Process(tid, printed int) int {
	if t.readTGIDs != nil {
		printed = 0
	}
	recent := &t.recent[tid&63]
	if recent.tid == tid && recent.printed == printed {
		return recent.process
	}
	found, known := t.known[tid]
	switch {
	case !known || t.passTime.Sub(found.checked) >= trustTime:
		found = thread{printed, t.find(tid, printed, found.process), t.passTime}
	case printed != 0 && printed != found.printed:
		found = thread{printed, printed, t.passTime} // the kernel has saved a new TGID
	}
	if found.process == 0 && t.readTGIDs == nil {
		return 0 // the kernel may save a TGID later
	}
	if len(t.known) >= maxThreads {
		clear(t.known)
	}
	t.known[tid] = found
	recent.tid, recent.printed, recent.process = tid, printed, found.process
	return found.process
}

// find looks a thread up in /proc and in the saved TGIDs. It returns previous if neither has it.
func (t *threads) find(tid, printed, previous int) int {
	if process := procfs.ThreadGroup(tid); process != 0 {
		return process
	}
	if t.readTGIDs == nil {
		return printed // the thread has ended, so the kernel has saved its TGID
	}
	if t.savedTGIDs == nil || !t.savedAt.Equal(t.passTime) {
		t.savedTGIDs, t.savedAt = t.readTGIDs(), t.passTime
	}
	if saved := t.savedTGIDs[tid]; saved != 0 {
		return saved
	}
	return previous
}

// Forget removes the threads of processes that have ended. The caller has read all their events. Later processes may
// get the same numbers for themselves and for their threads.
func (t *threads) Forget(ended map[int]bool) {
	maps.DeleteFunc(t.known, func(_ int, t thread) bool { return ended[t.process] })
	clear(t.recent[:])
}

// parseTGIDs parses saved_tgids: lines "TID TGID" (kernel/trace/trace.c, saved_tgids_show).
func parseTGIDs(text string) map[int]int {
	saved := make(map[int]int)
	for line := range strings.Lines(text) {
		thread, process, _ := strings.Cut(strings.TrimSpace(line), " ")
		tid, terr := strconv.Atoi(thread)
		pid, perr := strconv.Atoi(process)
		if terr == nil && perr == nil {
			saved[tid] = pid
		}
	}
	return saved
}
