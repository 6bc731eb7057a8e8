package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
)

// Clock converts times of the trace clock to the time of day and to nanoseconds.
type Clock struct {
	machine.Timebase
	// latest is the latest comparison of the clocks. Timebase is a copy of it. If pinned is set, Timebase stays the
	// first one, because the two lines of a call must agree, and calls in a tree must lie within their parents.
	latest machine.Timebase
	pinned bool
}

// update sets the latest comparison of the clocks.
func (c *Clock) update(base machine.Timebase) {
	if c.latest = base; !c.pinned || c.Clock == "" {
		c.Timebase = base
	}
}

// Took returns the duration of a call. It is 0 if the clock went back during the call: a cycle counter restarts when
// the machine wakes up.
func (c *Clock) Took(call *pairing.Call) time.Duration {
	return max(c.Duration(call.Start, call.End), 0)
}

// Split divides the duration ns of a call by the state of its goroutine.
func (c *Clock) Split(call *pairing.Call, ns int64) stats.Split {
	in := func(of pairing.Activity) int64 {
		return c.Duration(call.Start, call.Start+call.Split[of]).Nanoseconds()
	}
	return stats.Split{Running: in(pairing.Running), Runnable: in(pairing.Runnable), Waiting: in(pairing.Waiting)}.WithSum(ns)
}

// AddWaits adds the waits of a call to waits, by the names of their reasons, and returns the map. It makes one if waits
// is nil.
func (c *Clock) AddWaits(waits stats.Waits, call *pairing.Call, reasons []string) stats.Waits {
	for _, w := range call.Waits {
		if waits == nil {
			waits = make(stats.Waits)
		}
		waits[reasons[w.Reason]] += c.Duration(call.Start, call.Start+w.Ticks).Nanoseconds()
	}
	return waits
}
