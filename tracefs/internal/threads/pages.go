package threads

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// OfPages knows the processes of threads where records name the thread alone.
//
// /proc tells while a thread is there. For one that has ended the kernel's notes do, the
// same that trace_pipe prints (see OfLines): the last switch away from a thread is
// always noted.
type OfPages struct {
	notes func() map[int]int
	known map[int]pageOwner
	noted map[int]int
	now   time.Time // of the present pass over the CPUs
	asked time.Time // the pass in which noted was read
	// recent are those that the present pass has asked for, by the lowest bits of the
	// thread's number.
	recent [64]struct{ tid, process int }
}

type pageOwner struct {
	process int
	asked   time.Time
}

// ownerTrusted is how long a thread is believed to be the one of its number that was asked
// for: after that the number may have gone to another.
const ownerTrusted = time.Second

// NewOfPages knows what notes tells, the kernel's notes: thread → process.
func NewOfPages(notes func() map[int]int) *OfPages {
	return &OfPages{notes: notes, known: make(map[int]pageOwner)}
}

// Begin starts a pass.
func (r *OfPages) Begin(now time.Time) {
	r.now = now
	clear(r.recent[:])
}

// Process returns the process of a thread, 0 if it is unknown.
func (r *OfPages) Process(tid int) int {
	recent := &r.recent[tid&63]
	if recent.tid != tid {
		recent.tid, recent.process = tid, r.find(tid)
	}
	return recent.process
}

func (r *OfPages) find(tid int) int {
	owner, known := r.known[tid]
	if known && r.now.Sub(owner.asked) < ownerTrusted {
		return owner.process
	}
	process := procfs.ThreadGroup(tid)
	if process == 0 {
		if r.noted == nil || !r.asked.Equal(r.now) {
			r.noted, r.asked = r.notes(), r.now
		}
		if noted := r.noted[tid]; noted != 0 {
			process = noted
		} else {
			process = owner.process
		}
	}
	r.known[tid] = pageOwner{process, r.now}
	return process
}

// Forget is [OfLines.Forget].
func (r *OfPages) Forget(ended map[int]bool) {
	maps.DeleteFunc(r.known, func(_ int, owner pageOwner) bool { return ended[owner.process] })
	clear(r.recent[:])
}

// Notes reads the kernel's notes of the processes of threads: lines "TID TGID" of
// saved_tgids (kernel/trace/trace.c, saved_tgids_show).
func Notes(text string) map[int]int {
	notes := make(map[int]int)
	for line := range strings.Lines(text) {
		tid, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
		t, terr := strconv.Atoi(tid)
		p, perr := strconv.Atoi(pid)
		if terr == nil && perr == nil {
			notes[t] = p
		}
	}
	return notes
}
