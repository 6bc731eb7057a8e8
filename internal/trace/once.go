package trace

import (
	"context"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
)

// onceState is the state of Options.Once in the present interval.
type onceState struct {
	seen   map[int]bool // processes that have made a call
	since  time.Time    // when the first process was added to seen
	began  time.Time    // when the interval began
	paused bool
}

// add reports whether a call is the first one of its process in the interval, and notes the process. A call that began
// before the interval was recorded while its probe was being removed, and does not count.
func (o *onceState) add(c *pairing.Call, at time.Time) bool {
	if o.seen[c.PID] || at.Before(o.began) {
		return false
	}
	if len(o.seen) == 0 {
		o.seen, o.since = make(map[int]bool), time.Now()
	}
	o.seen[c.PID] = true
	return true
}

// settleTime is how long the other processes have to make their first call after the first process.
const settleTime = 100 * time.Millisecond

// pauseProbes removes the probes for the rest of the interval: right after the first call if only one process is traced,
// else settleTime later.
func (l *Live) pauseProbes() error {
	o := &l.once
	single := !l.opt.Fork && (len(l.opt.PIDs) == 1 || len(l.opt.PIDs) == 0 && l.program != nil)
	if o.paused || len(o.seen) == 0 || !single && time.Since(o.since) <= settleTime {
		return nil
	}
	o.paused = true
	return l.session.Pause()
}

// resumeProbes begins another interval and puts the probes back.
func (l *Live) resumeProbes() error {
	paused := l.once.paused
	if l.once = (onceState{began: time.Now()}); paused {
		return l.session.Resume(context.Background())
	}
	return nil
}
