package tracefs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// calibrateFor is the shortest time between the first two readings of the clocks. A reading is exact to a
	// few microseconds, so the ratio is exact to a few parts in 10,000.
	calibrateFor = 20 * time.Millisecond
	// driftFor is the longest time between two comparisons, because clocks are set and run unevenly.
	driftFor = time.Minute
	// If neither clock jumped between two comparisons, they differ by at most readingError plus maxDrift times
	// the time between.
	readingError = 100 * time.Microsecond
	maxDrift     = 0.001
)

// Comparison converts times of a trace clock by comparing it with the system's clock from time to time.
type Comparison struct {
	// Stats reads a per-CPU stats file, which contains the trace clock's time.
	Stats func() ([]byte, error)

	mu    sync.Mutex
	first Reading  // the oldest reading that the rate is computed from
	base  Timebase // the result of the last comparison; before the first one only Clock is set
	doubt float64  // a rate unlike that of base, which the last comparison found
}

// Begin takes the first reading and returns the trace clock's time.
func (c *Comparison) Begin() (ticks uint64, err error) {
	c.first, err = c.closest()
	return c.first.Ticks, err
}

// Timebase returns the relation of the two clocks. The first call waits until calibrateFor has passed since Begin.
// Later calls compare the clocks again whenever the time since Begin has doubled, and every driftFor.
func (c *Comparison) Timebase() (Timebase, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.read.At.IsZero() && c.base.Clock == Counter {
		time.Sleep(calibrateFor - time.Since(c.first.At))
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

// due reports whether the clocks must be compared again. They must be when the system's clock was set or the machine
// has slept, because [Timebase.Wall] would be wrong by as much.
func (c *Comparison) due(now time.Time) bool {
	last := c.base.read.At
	return last.IsZero() || now.Sub(last) >= min(max(last.Sub(c.first.At), calibrateFor), driftFor) || clockSet(last, now) != 0
}

// leastSet is the smallest change of the system's clock that clockSet returns. [time.Now] reads the wall clock and
// the monotonic clock one after the other, so small differences mean nothing.
const leastSet = 10 * time.Millisecond

// clockSet returns how far the system's clock was set ahead between two results of [time.Now], negative if it was set back,
// 0 if it was not set. A sleep of the machine also sets it ahead, because the monotonic clock stands still.
func clockSet(from, to time.Time) time.Duration {
	ahead := to.Round(0).Sub(from.Round(0)) - to.Sub(from)
	if ahead.Abs() < leastSet {
		return 0
	}
	return ahead
}

// compare computes base from a new reading. If a clock was set or stood still since the last reading, because the
// machine slept, it starts over from the new reading and keeps the known rate. It takes another rate only
// after two comparisons in a row found it.
func (c *Comparison) compare(now Reading) error {
	last, known := c.base.read, !c.base.read.At.IsZero()
	if known && c.jumped(last, now) {
		c.base.read, c.first = now, now
		recent, err := NewTimebase(c.base.Clock, last, now)
		if err == nil && math.Abs(recent.nsPerTick-c.doubt) < recent.nsPerTick*maxDrift {
			c.base.nsPerTick = recent.nsPerTick
		}
		c.doubt = recent.nsPerTick
		return nil
	}
	base, err := NewTimebase(c.base.Clock, c.first, now)
	if err == nil {
		c.base, c.doubt = base, 0
	}
	return err
}

// jumped reports whether the clocks differ by more since the last reading than drift explains.
func (c *Comparison) jumped(last, now Reading) bool {
	took := now.At.Sub(last.At)
	off := c.base.Duration(last.Ticks, now.Ticks) - took
	return off.Abs() > readingError+time.Duration(maxDrift*float64(took))
}

const (
	// Counter is the trace clock that counts CPU cycles. It is the only one that trace_pipe prints in full: it
	// cuts all others to microseconds.
	Counter = "x86-tsc"
	// Monotonic is the trace clock that counts nanoseconds, is ordered between CPUs and never goes back.
	Monotonic = "mono"
)

// Timebase converts time stamps of the trace clock.
type Timebase struct {
	Clock     string  // the kernel's name of the clock
	nsPerTick float64 // nanoseconds per unit of Event.Time
	read      Reading // the last reading of both clocks
}

// Duration returns the time between two stamps. It is the difference of their Wall times, so rounding never makes
// a nested call end after its caller.
func (b *Timebase) Duration(from, to uint64) time.Duration {
	return b.sinceRead(to) - b.sinceRead(from)
}

// Wall returns the system's time at a stamp.
func (b *Timebase) Wall(stamp uint64) time.Time {
	return b.read.At.Add(b.sinceRead(stamp))
}

// sinceRead returns the time from the last reading to a stamp. It is monotonic, and the only place where times
// are rounded.
func (b *Timebase) sinceRead(stamp uint64) time.Duration {
	return time.Duration(float64(int64(stamp-b.read.Ticks)) * b.nsPerTick)
}

// NewTimebase relates a trace clock to the system's clock by two readings. clock is the kernel's name of it. It
// returns an error if a counter did not advance.
func NewTimebase(clock string, a, b Reading) (Timebase, error) {
	base := Timebase{Clock: clock, nsPerTick: 1, read: b}
	if clock == Counter {
		if b.Ticks <= a.Ticks {
			return base, fmt.Errorf("calibrate clock %s: it stands at %d", clock, b.Ticks)
		}
		base.nsPerTick = float64(b.At.Sub(a.At)) / float64(b.Ticks-a.Ticks)
	}
	return base, nil
}

// Reading is a simultaneous reading of the trace clock, in its units, and of the system's clock.
type Reading struct {
	Ticks uint64
	At    time.Time
}

// Now reads both clocks once. width is the time between the reading's begin and end. Per-CPU stats contain the
// trace clock's time as "now ts: 1988767667996" for a counter and as "now ts:   447.809285" (seconds) for
// other clocks (kernel/trace/trace.c, tracing_stats_read).
func (c *Comparison) Now() (now Reading, width time.Duration, err error) {
	before := time.Now()
	b, err := c.Stats()
	width = time.Since(before)
	now.At = before.Add(width / 2)
	if err == nil {
		now.Ticks, err = present(string(b))
	}
	if err != nil {
		err = fmt.Errorf("read clock: %w", err)
	}
	return now, width, err
}

// present returns the trace clock's time in the text of a stats file.
func present(stats string) (uint64, error) {
	_, after, ok := strings.Cut(stats, "now ts:")
	if !ok {
		return 0, errors.New("no line \"now ts:\"")
	}
	line, _, _ := strings.Cut(after, "\n")
	return Ticks(strings.TrimSpace(line))
}

// Ticks parses a time of per-CPU stats: a count, or seconds with six decimals, which it returns as nanoseconds.
func Ticks(text string) (uint64, error) {
	whole, micro, isTime := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || !isTime {
		return n, err
	}
	us, err := strconv.ParseUint(micro, 10, 32)
	if err == nil && n > math.MaxInt64/1_000_000_000-1 {
		err = strconv.ErrRange
	}
	return n*1e9 + us*1e3, err
}

// closest returns the reading of least width among several, because an interrupt may fall between the two clocks.
func (c *Comparison) closest() (best Reading, err error) {
	narrowest := time.Duration(math.MaxInt64)
	for range 9 {
		now, width, e := c.Now()
		if e != nil {
			err = e
		} else if width < narrowest {
			best, narrowest = now, width
		}
	}
	if narrowest < math.MaxInt64 {
		err = nil
	}
	return best, err
}
