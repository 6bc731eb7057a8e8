package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/parse"
)

// rests tell when the probes are out: with Options.Once, from when each process was seen until
// the interval ends.
type rests struct {
	seen   map[int]bool // processes, in this interval
	first  time.Time    // when the first of them was
	began  time.Time    // the interval
	paused bool
}

// gather is how long other processes have after the first to come by the probe.
const gather = 100 * time.Millisecond

// wants tells whether a call is wanted.
func (l *Live) wants(c *parse.Call) bool {
	r := &l.rests
	// What was hit while the probe was being taken out is of the last interval.
	if !l.opt.Once {
		return true
	}
	if r.seen[c.PID] || l.clock.present.Wall(c.Start).Before(r.began) {
		return false
	}
	if len(r.seen) == 0 {
		r.seen, r.first = make(map[int]bool), time.Now()
	}
	r.seen[c.PID] = true
	return true
}

// rest takes the probes out for what is left of the interval once all that is wanted is there.
func (l *Live) rest() error {
	r := &l.rests
	if r.paused || len(r.seen) == 0 || !l.opt.Alone && time.Since(r.first) <= gather {
		return nil
	}
	r.paused = true
	return l.session.Pause()
}

// resume begins another interval.
func (l *Live) resume() error {
	paused := l.rests.paused
	if l.rests = (rests{began: time.Now()}); paused {
		return l.session.Resume()
	}
	return nil
}
