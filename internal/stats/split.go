package stats

// Split divides durations, in nanoseconds.
type Split struct {
	// Running had a CPU, Runnable could have gone on with one, or with a thread; Waiting
	// waited for something else.
	Running, Runnable, Waiting int64
}

// Sum is what was divided.
func (s Split) Sum() int64 { return s.Running + s.Runnable + s.Waiting }

// Add adds the parts of another one.
func (s *Split) Add(t Split) {
	s.Running += t.Running
	s.Runnable += t.Runnable
	s.Waiting += t.Waiting
}

func (s Split) since(earlier Split) Split {
	return Split{s.Running - earlier.Running, s.Runnable - earlier.Runnable, s.Waiting - earlier.Waiting}
}

// Of makes the parts add up to ns, which is what is left when the cost of probes has been
// taken off: the program was running when it paid that.
func (s Split) Of(ns int64) Split {
	s.Running += ns - s.Sum()
	s.Runnable += min(s.Running, 0)
	s.Running = max(s.Running, 0)
	s.Waiting += min(s.Runnable, 0)
	s.Runnable = max(s.Runnable, 0)
	return s
}
