package tracefs

import (
	"fmt"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/clocks"
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// Timebase converts time stamps of the trace clock.
type Timebase = clocks.Timebase

// Timebase converts the time stamps of the session's events. It must not be asked for
// before Start has returned, nor after Close. The first time it waits, if need be, until
// the session is 20 ms old: nobody who only wants the probes armed waits for that. The
// clocks are compared anew when the session is twice as old, and each minute: who shows
// when something was asks again from time to time.
func (s *Session) Timebase() (Timebase, error) { return s.clocks.Timebase(s.sampleClock) }

// sampleClock reads both clocks as closely as it can.
func (s *Session) sampleClock() (clocks.Reading, error) { return clocks.Closest(s.readClock) }

// readClock reads both clocks once. Width is how long that took.
func (s *Session) readClock() (now clocks.Reading, width time.Duration, err error) {
	file := s.file("per_cpu", "cpu0", "stats")
	now, width, err = clocks.Read(func() ([]byte, error) { return s.fs.tree.Ops.Read(file) })
	if err != nil {
		err = fmt.Errorf("read clock from %s: %w", file, err)
	}
	return now, width, err
}

// ClockStep is how far the trace clock goes at a time, where that is a millisecond or more: some
// machines have nothing but the timer's interrupts to tell the time by, and then no latency is
// known any better. It is 0 for all other clocks.
func (s *Session) ClockStep() (time.Duration, error) {
	if s.clocks.Clock() == clocks.Counter {
		return 0, nil
	}
	return clocks.Step(s.readClock)
}

// setClock chooses the clock of the instance. Writing it empties the ring buffers, which
// takes a grace period of some 15 ms (kernel/trace/trace.c, tracing_set_clock), so a
// session that only counts stays with the one that the instance has come with.
func (s *Session) setClock(opt Options) error {
	file := s.file("trace_clock")
	offered, err := s.fs.tree.Ops.Read(file)
	if err != nil {
		return files.Refused("read", file, err)
	}
	if opt.Quiet {
		s.clocks.Choose(presentClock(string(offered)))
		return nil
	}
	clock, _ := machine.This().ChooseClock(string(offered))
	s.clocks.Choose(clock)
	if err := s.fs.tree.Ops.Write(file, clock); err != nil {
		return files.Refused("write", file, err)
	}
	return nil
}

// presentClock is the clock that is in brackets among those offered.
func presentClock(offered string) string {
	_, rest, _ := strings.Cut(offered, "[")
	name, _, _ := strings.Cut(rest, "]")
	return name
}
