package tracefs

import "time"

// calibrateFor is how long the two clocks are compared at least: readings are good to a
// few microseconds, so the ratio is to a few parts in 10,000.
const calibrateFor = 20 * time.Millisecond

// Timebase converts the time stamps of the session's events. It must not be asked for
// before Start has returned, nor after Close. The first time it waits, if need be, until
// the session is 20 ms old: nobody who only wants the probes armed waits for that.
func (s *Session) Timebase() (Timebase, error) {
	s.timed.Do(func() {
		if s.base.Clock == counterClock {
			time.Sleep(calibrateFor - time.Since(s.first.at))
		}
		var second sample
		if second, s.timeErr = s.sampleClock(); s.timeErr == nil {
			s.base, s.timeErr = timebase(s.base.Clock, s.first, second)
		}
	})
	return s.base, s.timeErr
}

// setClock chooses the clock of the instance. Writing it empties the ring buffers, which
// takes a grace period of some 15 ms (kernel/trace/trace.c, tracing_set_clock), so a
// session that only counts stays with the one that the instance has come with.
func (s *Session) setClock(opt Options) error {
	file := s.file("trace_clock")
	offered, err := s.fs.ops.Read(file)
	if err != nil {
		return refused("read", file, err)
	}
	if opt.Quiet {
		s.base.Clock = presentClock(string(offered))
		return nil
	}
	s.base.Clock = chooseClock(string(offered), tscTrusted())
	if err := s.fs.ops.Write(file, s.base.Clock); err != nil {
		return refused("write", file, err)
	}
	return nil
}
