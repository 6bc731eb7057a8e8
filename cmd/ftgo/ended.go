package main

import (
	"fmt"
	"os"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/procfs"
)

// ended are processes that are no more, or whose number has gone to another. What is known
// of them is dropped once all of their events have been read: many short programs take no
// more memory than few.
type ended struct {
	// started are the start times of the processes that events have come from.
	started map[int]uint64
	// seen is when a process was found to have ended.
	seen map[int]time.Time
	// idle is when there was nothing to be read.
	idle time.Time
}

const (
	// looks is how many processes are looked at at once.
	looks = 500
	// drained is how long what was recorded takes to come in order, once it can be read.
	drained = time.Second
)

// read notes that n bytes or pages were read.
func (e *ended) read(n int) {
	if n == 0 {
		e.idle = time.Now()
	}
}

// forgetEnded drops what is known of processes that have ended.
func (t *tracing) forgetEnded() {
	if procfs.ForeignNumbers() {
		return // none of them is there by its number
	}
	e := &t.ended
	if e.started == nil {
		e.started, e.seen = make(map[int]uint64), make(map[int]time.Time)
	}
	now := time.Now()
	left := looks
	for _, pid := range t.stream.Processes() {
		if _, dead := e.seen[pid]; dead || pid == 0 {
			continue
		}
		if left--; left < 0 {
			break
		}
		stat, alive := procfs.Living(pid)
		if !alive || e.started[pid] != 0 && e.started[pid] != stat.Started {
			e.seen[pid] = now
		}
		e.started[pid] = stat.Started
	}
	read := t.present.Wall(t.stream.Latest())
	gone := make(map[int]bool)
	for pid, seen := range e.seen {
		if e.idle.Sub(seen) > drained || read.Sub(seen) > drained {
			gone[pid] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	t.stream.Forget(gone)
	t.tally.release()
	t.session.Forget(gone)
	t.tally.within.Forget(gone)
	for pid := range gone {
		t.bias.Forget(pid)
		t.tally.per.forget(pid)
		t.kernel.forget(pid)
		if t.onEnded != nil {
			t.onEnded(pid)
		}
		delete(e.started, pid)
		delete(e.seen, pid)
	}
}

// replaced notices that what is run is no longer what is probed.
type replaced struct {
	file os.FileInfo
	// told are the processes, and 0 for the file, that it was said of.
	told map[int]bool
}

// noticeReplaced says, once of each, that a process of -p has executed another program, and
// that BINARY is another file now.
func (t *tracing) noticeReplaced() {
	r := &t.replaced
	if r.told == nil {
		r.told = make(map[int]bool)
		r.file, _ = os.Stat(fmt.Sprintf("/proc/self/fd/%d", t.sel.Binary.Fd()))
		for _, pid := range t.opt.pids {
			if exe, err := os.Stat(procfs.Exe(pid)); err == nil && !os.SameFile(exe, r.file) {
				r.told[pid] = true // what is probed is a library
			}
		}
	}
	if len(t.opt.pids) == 0 {
		if now, err := os.Stat(t.opt.binary); err == nil && !r.told[0] && !os.SameFile(now, r.file) {
			r.told[0] = true
			t.env.Say("%s was replaced on disk: processes started from now on run another file, which is not probed", t.opt.binary)
		}
	}
	for _, pid := range t.opt.pids {
		now, err := os.Stat(procfs.Exe(pid))
		if err != nil || os.SameFile(now, r.file) || r.told[pid] {
			continue
		}
		r.told[pid] = true
		name, _ := os.Readlink(procfs.Exe(pid))
		t.env.Say("process %d runs another program now, %s, which is not probed", pid, render.Escape(name))
	}
}
