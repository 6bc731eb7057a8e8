package tracefs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/tracefs/internal/machine"
)

// presentClock is the clock that is in brackets among those offered.
func presentClock(offered string) string {
	_, rest, _ := strings.Cut(offered, "[")
	name, _, _ := strings.Cut(rest, "]")
	return name
}

// Timebase converts time stamps of the trace clock.
type Timebase struct {
	// Clock is the kernel's name of the clock.
	Clock string
	// nsPerTick is the length of a unit of Event.Time.
	nsPerTick float64
	ticks     uint64
	wall      time.Time
}

// Duration is the time between two stamps, from earlier to later. It is the difference of what
// Wall tells of the two, so that a call which lies within another never ends after it.
func (b Timebase) Duration(from, to uint64) time.Duration {
	return b.sinceRead(to) - b.sinceRead(from)
}

// Wall is when a stamp was taken.
func (b Timebase) Wall(stamp uint64) time.Time {
	return b.wall.Add(b.sinceRead(stamp))
}

// sinceRead is the time from the reading of both clocks to a stamp. It never decreases as stamps
// grow, and is the only place where a time is rounded.
func (b Timebase) sinceRead(stamp uint64) time.Duration {
	return time.Duration(float64(int64(stamp-b.ticks)) * b.nsPerTick)
}

// sample is one simultaneous reading of the trace clock and the system's.
type sample struct {
	ticks uint64
	at    time.Time
}

// sampleClock reads both clocks, the closest of several tries: the reading may be
// interrupted between the two.
func (s *Session) sampleClock() (sample, error) {
	best, width := sample{}, time.Duration(-1)
	var failed error
	for range 9 {
		now, w, err := s.readClock()
		if err != nil {
			failed = err
		} else if width < 0 || w < width {
			best, width = now, w
		}
	}
	if width < 0 {
		return sample{}, failed
	}
	return best, nil
}

// readClock reads both clocks once. Width is how long that took.
func (s *Session) readClock() (now sample, width time.Duration, err error) {
	file := s.file("per_cpu", "cpu0", "stats")
	before := time.Now()
	b, err := s.fs.ops.Read(file)
	width = time.Since(before)
	if err == nil {
		now.ticks, err = nowTicks(string(b))
	}
	if err != nil {
		return now, width, fmt.Errorf("read clock from %s: %w", file, err)
	}
	now.at = before.Add(width / 2)
	return now, width, nil
}

// coarseStep is what a clock that follows the timer's interrupts goes by at least.
const coarseStep = time.Millisecond

// ClockStep is how far the trace clock goes at a time, where that is a millisecond or more: some
// machines have nothing but the timer's interrupts to tell the time by, and then no latency is
// known any better. It is 0 for all other clocks.
func (s *Session) ClockStep() (time.Duration, error) {
	if s.clocks.base.Clock == machine.CounterClock {
		return 0, nil
	}
	least := time.Duration(0)
	for last, changes, tries := uint64(0), 0, 0; changes < 4 && tries < 100_000; tries++ {
		now, _, err := s.readClock()
		if err != nil {
			return 0, err
		}
		step := time.Duration(now.ticks - last)
		last = now.ticks
		if step == 0 {
			continue
		}
		// The first was not seen to begin.
		if changes++; changes > 2 && (least == 0 || step < least) {
			least = step
		}
		if changes > 1 && step < coarseStep {
			return 0, nil
		}
	}
	return least, nil
}

// nowTicks finds the trace clock's present value in a per-CPU stats file:
// "now ts: 1988767667996" for a counter, "now ts:   447.809285" (seconds) for the
// rest (kernel/trace/trace.c, tracing_stats_read).
func nowTicks(stats string) (uint64, error) {
	_, text, ok := strings.Cut(lineWith(stats, "now ts:"), ":")
	if !ok {
		return 0, errors.New("no line \"now ts:\"")
	}
	whole, micro, isTime := strings.Cut(strings.TrimSpace(text), ".")
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || !isTime {
		return n, err
	}
	us, err := strconv.ParseUint(micro, 10, 32)
	return n*1e9 + us*1e3, err
}

// timebase relates the trace clock to the system's from two samples, taken some
// time apart.
func timebase(clock string, a, b sample) (Timebase, error) {
	base := Timebase{Clock: clock, nsPerTick: 1, ticks: b.ticks, wall: b.at}
	if clock == machine.CounterClock {
		if b.ticks <= a.ticks {
			return base, fmt.Errorf("calibrate clock %s: it stands at %d", clock, b.ticks)
		}
		base.nsPerTick = float64(b.at.Sub(a.at)) / float64(b.ticks-a.ticks)
	}
	return base, nil
}

// ClockReading is one simultaneous reading of the trace clock, in its units, and of the
// system's.
type ClockReading struct {
	Ticks uint64
	At    time.Time
}

// NewTimebase relates a trace clock, by the kernel's name for it, to the system's from two
// readings, for traces that were recorded elsewhere.
func NewTimebase(clock string, first, second ClockReading) (Timebase, error) {
	return timebase(clock, sample{first.Ticks, first.At}, sample{second.Ticks, second.At})
}
