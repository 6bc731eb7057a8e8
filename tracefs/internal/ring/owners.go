package ring

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Owners knows the processes of threads that hits name. /proc tells while a thread is there; for
// one that has ended the kernel's notes do, because the last switch away from a thread is always
// noted.
//
// They are what the kernel noted when the thread was last switched to while something recorded
// TGIDs (tracing_record_taskinfo_sched_switch in kernel/trace/trace_sched_switch.c, since 4.13).
// Text has them in the TGID column, looked up when the line is printed. The notes are never
// cleared: until a new thread is switched, they show the process of an earlier thread of the same
// number. So /proc is asked first.
type Owners struct {
	known map[int]ownedThread
	// recent are some of known, by the lowest bits of the thread's number; of pages, those that
	// the present pass has asked for.
	recent [64]struct{ tid, printed, process int }
	// Of pages alone: notes reads the kernel's notes, thread → process; now is the present pass
	// over the CPUs, asked the one in which noted was read.
	notes      func() map[int]int
	noted      map[int]int
	now, asked time.Time
}

type ownedThread struct {
	printed int // the column, when it was last looked at; 0 of pages
	process int
	asked   time.Time // the pass
}

// trusted is how long a thread of pages is believed to be the one of its number that was asked
// for: after that the number may have gone to another. Of text the column tells.
const trusted = time.Second

// NewOwners knows what notes tells; nil where lines of text do.
func NewOwners(notes func() map[int]int) *Owners {
	return &Owners{notes: notes, known: make(map[int]ownedThread)}
}

// Begin starts a pass.
func (o *Owners) Begin(now time.Time) {
	o.now = now
	clear(o.recent[:])
}

// Process returns the process of a thread, 0 if it is unknown or the idle one. printed is the TGID
// column of the thread's newest line, 0 where it has none; pages have none.
func (o *Owners) Process(tid, printed int) int {
	if o.notes != nil {
		printed = 0
	}
	recent := &o.recent[tid&63]
	if recent.tid == tid && recent.printed == printed {
		return recent.process
	}
	thread, known := o.known[tid]
	switch {
	case !known || o.now.Sub(thread.asked) >= trusted:
		thread = ownedThread{printed, o.find(tid, printed, thread.process), o.now}
	case printed != 0 && printed != thread.printed:
		thread = ownedThread{printed, printed, o.now} // noted anew
	}
	if thread.process == 0 && o.notes == nil {
		return 0 // it may be noted yet
	}
	o.known[tid] = thread
	recent.tid, recent.printed, recent.process = tid, printed, thread.process
	return thread.process
}

// find asks /proc, and then the notes; before is what nobody may remember any more.
func (o *Owners) find(tid, printed, before int) int {
	if process := procfs.ThreadGroup(tid); process != 0 {
		return process
	}
	if o.notes == nil {
		return printed // it has ended, and was noted when it was switched away from
	}
	if o.noted == nil || !o.asked.Equal(o.now) {
		o.noted, o.asked = o.notes(), o.now
	}
	if noted := o.noted[tid]; noted != 0 {
		return noted
	}
	return before
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: others may get their numbers, and those of their threads.
func (o *Owners) Forget(ended map[int]bool) {
	maps.DeleteFunc(o.known, func(_ int, thread ownedThread) bool { return ended[thread.process] })
	clear(o.recent[:])
}

// notes reads saved_tgids: lines "TID TGID" (kernel/trace/trace.c, saved_tgids_show).
func notes(text string) map[int]int {
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
