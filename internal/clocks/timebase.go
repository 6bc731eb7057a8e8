// Package clocks relates the kernel's trace clock to the system's.
package clocks

import (
	"fmt"
	"time"
)

// Counter is the trace clock that text prints in full: raw cycles, where the others are cut to
// microseconds.
const Counter = "x86-tsc"

// Monotonic is the trace clock that counts nanoseconds, is ordered between CPUs, and never goes back.
const Monotonic = "mono"

// Timebase converts time stamps of the trace clock.
type Timebase struct {
	// Clock is the kernel's name of the clock.
	Clock string
	// Step is how far the clock goes at a time, where that is a millisecond or more: some machines
	// have nothing but the timer's interrupts to tell the time by, and then no latency is known any
	// better. It is 0 for all others.
	Step time.Duration
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

// New relates a trace clock, by the kernel's name for it, to the system's from two readings,
// taken some time apart.
func New(clock string, a, b Reading) (Timebase, error) {
	base := Timebase{Clock: clock, nsPerTick: 1, ticks: b.Ticks, wall: b.At}
	if clock == Counter {
		if b.Ticks <= a.Ticks {
			return base, fmt.Errorf("calibrate clock %s: it stands at %d", clock, b.Ticks)
		}
		base.nsPerTick = float64(b.At.Sub(a.At)) / float64(b.Ticks-a.Ticks)
	}
	return base, nil
}
