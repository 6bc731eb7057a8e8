package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// ended knows the processes that have ended, or whose number has gone to another. It forgets a
// process once all of its events have been read, because many short programs are to take no more
// memory than few.
type ended struct {
	// started are the start times of the processes that events have come from.
	started map[int]uint64
	// seen is when a process was found to have ended.
	seen map[int]time.Time
	// idle is when there was nothing to be read.
	idle time.Time
}

const (
	// maxChecked is the number of processes checked per look.
	maxChecked = 500
	// drained is the time after which the stream has put in order what was recorded.
	drained = time.Second
)

// read notes that n bytes or pages were read.
func (e *ended) read(n int) {
	if n == 0 {
		e.idle = time.Now()
	}
}

// forgetEnded drops what is known of processes that have ended.
func (l *Live) forgetEnded() {
	if procfs.ForeignNumbers() {
		return // none of them is there by its number
	}
	e := &l.look.ended
	if e.started == nil {
		e.started, e.seen = make(map[int]uint64), make(map[int]time.Time)
	}
	now := time.Now()
	left := maxChecked
	for _, pid := range l.stream.Processes() {
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
	read := l.clock.present.Wall(l.stream.Latest())
	gone := make(map[int]bool)
	for pid, seen := range e.seen {
		if e.idle.Sub(seen) > drained || read.Sub(seen) > drained {
			gone[pid] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	l.stream.Forget(gone)
	l.session.Forget(gone)
	for pid := range gone {
		l.processes.bias.Forget(pid)
		l.kernel.forget(pid)
		l.sink.ProcessEnded(pid)
		delete(e.started, pid)
		delete(e.seen, pid)
	}
}
