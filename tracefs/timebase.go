package tracefs

import (
	"math"
	"sync"
	"time"

	"github.com/ftgo/ftgo/tracefs/internal/files"
	"github.com/ftgo/ftgo/tracefs/internal/machine"
)

const (
	// calibrateFor is how long the two clocks are compared at least: readings are good to a
	// few microseconds, so the ratio is to a few parts in 10,000.
	calibrateFor = 20 * time.Millisecond
	// driftFor is how long a comparison holds at most: clocks are set, and run unevenly.
	driftFor = time.Minute
	// Between two comparisons, sound clocks differ by readingError and a share of maxDrift.
	readingError = 100 * time.Microsecond
	maxDrift     = 0.001
)

// Timebase converts the time stamps of the session's events. It must not be asked for
// before Start has returned, nor after Close. The first time it waits, if need be, until
// the session is 20 ms old: nobody who only wants the probes armed waits for that. The
// clocks are compared anew when the session is twice as old, and each minute: who shows
// when something was asks again from time to time.
func (s *Session) Timebase() (Timebase, error) {
	c := &s.clocks
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.wall.IsZero() && c.base.Clock == machine.CounterClock {
		time.Sleep(calibrateFor - time.Since(c.first.at))
	}
	if !c.due(time.Now()) {
		return c.base, nil
	}
	now, err := s.sampleClock()
	if err == nil {
		err = c.compare(now)
	}
	return c.base, err
}

// clocks are the trace clock and the system's.
type clocks struct {
	mu    sync.Mutex
	began uint64   // the trace clock's first reading
	first sample   // since when they are compared
	base  Timebase // by the last comparison; until there is one, the clock's name
	// doubt is a rate that was seen once, and is not that of base.
	doubt float64
}

func (c *clocks) due(now time.Time) bool {
	last := c.base.wall
	return last.IsZero() || now.Sub(last) >= min(max(last.Sub(c.first.at), calibrateFor), driftFor)
}

// compare makes the base that holds from now on. Where one of the clocks has stood still since
// the last time (with the machine asleep) or was set, it begins anew at the rate that was known,
// or at another one if that is seen twice running.
func (c *clocks) compare(now sample) error {
	last, known := sample{c.base.ticks, c.base.wall}, !c.base.wall.IsZero()
	if known && c.jumped(last, now) {
		c.base.ticks, c.base.wall, c.first = now.ticks, now.at, now
		recent, err := timebase(c.base.Clock, last, now)
		if err == nil && math.Abs(recent.nsPerTick-c.doubt) < recent.nsPerTick*maxDrift {
			c.base.nsPerTick = recent.nsPerTick
		}
		c.doubt = recent.nsPerTick
		return nil
	}
	base, err := timebase(c.base.Clock, c.first, now)
	if err == nil {
		c.base, c.doubt = base, 0
	}
	return err
}

func (c *clocks) jumped(last, now sample) bool {
	took := now.at.Sub(last.at)
	off := c.base.Duration(last.ticks, now.ticks) - took
	return off.Abs() > readingError+time.Duration(maxDrift*float64(took))
}

// setClock chooses the clock of the instance. Writing it empties the ring buffers, which
// takes a grace period of some 15 ms (kernel/trace/trace.c, tracing_set_clock), so a
// session that only counts stays with the one that the instance has come with.
func (s *Session) setClock(opt Options) error {
	file := s.file("trace_clock")
	offered, err := s.fs.ops.Read(file)
	if err != nil {
		return files.Refused("read", file, err)
	}
	if opt.Quiet {
		s.clocks.base.Clock = presentClock(string(offered))
		return nil
	}
	s.clocks.base.Clock, _ = machine.This().ChooseClock(string(offered))
	if err := s.fs.ops.Write(file, s.clocks.base.Clock); err != nil {
		return files.Refused("write", file, err)
	}
	return nil
}
