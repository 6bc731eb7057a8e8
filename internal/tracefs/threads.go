package tracefs

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// threads knows the processes of threads that hits name. /proc tells while a thread is there; for one
// that has ended the kernel's notes do, which always have the last switch away from a thread.
//
// They are what the kernel noted when the thread was last switched to while something recorded
// TGIDs (tracing_record_taskinfo_sched_switch in kernel/trace/trace_sched_switch.c, since 4.13).
// Text has them in the TGID column, looked up when the line is printed. The notes are never
// cleared: until a new thread is switched, they show the process of an earlier thread of the same
// number. So /proc is asked first.
type threads struct {
	// known are the threads looked up last, and older those before them: threads of processes that
	// nobody has selected are forgotten by nobody, and neither are those in another PID namespace.
	known, older map[int]thread
	// recent are some of known, by the lowest bits of a thread's number; of pages, the present pass's.
	recent [64]struct{ tid, printed, process int }
	// Of pages alone: notes reads the kernel's notes, thread → process; now is the present pass
	// over the CPUs, asked the one in which noted was read.
	notes      func() map[int]int
	noted      map[int]int
	now, asked time.Time
}

type thread struct {
	printed int // the column, when it was last looked at; 0 of pages
	process int
	asked   time.Time // the pass
}

// trusted is how long a thread of pages is believed to be the one of its number that was asked
// for: after that the number may have gone to another. Of text the column tells.
const trusted = time.Second

// maxThreads is how many threads known has room for.
const maxThreads = 8192

// beginPass starts a pass.
func (t *threads) beginPass(now time.Time) {
	t.now = now
	clear(t.recent[:])
}

// Process returns the process of a thread, 0 if it is unknown or the idle one. printed is the TGID
// column of the thread's newest line, 0 where it has none; pages have none.
func (t *threads) Process(tid, printed int) int {
	if t.notes != nil {
		printed = 0
	}
	recent := &t.recent[tid&63]
	if recent.tid == tid && recent.printed == printed {
		return recent.process
	}
	now, known := t.known[tid]
	if !known {
		now, known = t.older[tid]
	}
	switch {
	case !known || t.now.Sub(now.asked) >= trusted:
		now = thread{printed, t.find(tid, printed, now.process), t.now}
	case printed != 0 && printed != now.printed:
		now = thread{printed, printed, t.now} // noted anew
	}
	if now.process == 0 && t.notes == nil {
		return 0 // it may be noted yet
	}
	if len(t.known) >= maxThreads {
		t.known, t.older = make(map[int]thread), t.known
	}
	t.known[tid] = now
	recent.tid, recent.printed, recent.process = tid, printed, now.process
	return now.process
}

// find asks /proc, and then the notes; before is what nobody may remember any more.
func (t *threads) find(tid, printed, before int) int {
	if process := procfs.ThreadGroup(tid); process != 0 {
		return process
	}
	if t.notes == nil {
		return printed // it has ended, and was noted when it was switched away from
	}
	if t.noted == nil || !t.asked.Equal(t.now) {
		t.noted, t.asked = t.notes(), t.now
	}
	if noted := t.noted[tid]; noted != 0 {
		return noted
	}
	return before
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: others may get their numbers, and those of their threads.
func (t *threads) Forget(ended map[int]bool) {
	gone := func(_ int, of thread) bool { return ended[of.process] }
	maps.DeleteFunc(t.known, gone)
	maps.DeleteFunc(t.older, gone)
	clear(t.recent[:])
}

// parseNotes reads saved_tgids: lines "TID TGID" (kernel/trace/trace.c, saved_tgids_show).
func parseNotes(text string) map[int]int {
	noted := make(map[int]int)
	for line := range strings.Lines(text) {
		thread, process, _ := strings.Cut(strings.TrimSpace(line), " ")
		tid, terr := strconv.Atoi(thread)
		pid, perr := strconv.Atoi(process)
		if terr == nil && perr == nil {
			noted[tid] = pid
		}
	}
	return noted
}
