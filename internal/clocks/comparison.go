package clocks

import (
	"math"
	"sync"
	"time"
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

// Comparison knows a trace clock by comparing it with the system's from time to time.
type Comparison struct {
	// Stats reads a per-CPU stats file, which has the trace clock's time.
	Stats func() ([]byte, error)

	mu    sync.Mutex
	first Reading  // since when they are compared
	base  Timebase // by the last comparison; until there is one, the clock's name
	// doubt is a rate that was seen once, and is not that of base.
	doubt float64
}

// Choose names the trace clock.
func (c *Comparison) Choose(clock string) { c.base.Clock = clock }

// Begin takes the first reading, and returns the trace clock's time.
func (c *Comparison) Begin() (ticks uint64, err error) {
	c.first, err = c.closest()
	return c.first.Ticks, err
}

// Timebase is what is known of the clocks. The first time it waits, if need be, until 20 ms have
// gone since Begin. They are compared anew when twice as much has gone, and each minute.
func (c *Comparison) Timebase() (Timebase, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.wall.IsZero() {
		if c.base.Clock == Counter {
			time.Sleep(calibrateFor - time.Since(c.first.At))
		}
		var err error
		if c.base.Step, err = c.step(); err != nil {
			return c.base, err
		}
	}
	if !c.due(time.Now()) {
		return c.base, nil
	}
	now, err := c.closest()
	if err == nil {
		err = c.compare(now)
	}
	return c.base, err
}

func (c *Comparison) due(now time.Time) bool {
	last := c.base.wall
	return last.IsZero() || now.Sub(last) >= min(max(last.Sub(c.first.At), calibrateFor), driftFor)
}

// compare makes the base that holds from now on. Where one of the clocks has stood still since
// the last time (with the machine asleep) or was set, it begins anew at the rate that was known,
// or at another one if that is seen twice running.
func (c *Comparison) compare(now Reading) error {
	last, known := Reading{c.base.ticks, c.base.wall}, !c.base.wall.IsZero()
	if known && c.jumped(last, now) {
		c.base.ticks, c.base.wall, c.first = now.Ticks, now.At, now
		recent, err := New(c.base.Clock, last, now)
		if err == nil && math.Abs(recent.nsPerTick-c.doubt) < recent.nsPerTick*maxDrift {
			c.base.nsPerTick = recent.nsPerTick
		}
		c.doubt = recent.nsPerTick
		return nil
	}
	base, err := New(c.base.Clock, c.first, now)
	if base.Step = c.base.Step; err == nil {
		c.base, c.doubt = base, 0
	}
	return err
}

func (c *Comparison) jumped(last, now Reading) bool {
	took := now.At.Sub(last.At)
	off := c.base.Duration(last.Ticks, now.Ticks) - took
	return off.Abs() > readingError+time.Duration(maxDrift*float64(took))
}
