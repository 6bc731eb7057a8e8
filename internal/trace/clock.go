package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// Clock converts times of the trace clock to the time of day and to nanoseconds.
type Clock struct {
	tracefs.Timebase
	// latest is the newest Timebase: a reading of the trace clock together with the time of day. The embedded Timebase,
	// which converts times, is a copy of latest. If pinned is set, it is the first Timebase of the run instead. A Clock is
	// pinned if the output has a line for the begin and for the end of each call, or a tree: there the times must fit
	// together.
	latest tracefs.Timebase
	pinned bool
}

// update sets latest. It also sets Timebase, unless Timebase is pinned and already set.
func (c *Clock) update(base tracefs.Timebase) {
	if c.latest = base; !c.pinned || c.Clock == "" {
		c.Timebase = base
	}
}

// Took returns the duration of a call. It is 0 if the clock went back during the call: a cycle counter restarts when
// the machine wakes up.
func (c *Clock) Took(call *pairing.Call) time.Duration {
	return max(c.Duration(call.Start, call.End), 0)
}

// Split splits the duration of a call, ns, into the times in which its goroutine was running, runnable and waiting. Their
// sum is ns.
func (c *Clock) Split(call *pairing.Call, ns int64) stats.Split {
	in := func(of pairing.Activity) int64 {
		return c.Duration(call.Start, call.Start+call.Split[of]).Nanoseconds()
	}
	return stats.Split{Running: in(pairing.Running), Runnable: in(pairing.Runnable), Waiting: in(pairing.Waiting)}.WithSum(ns)
}

// AddWaits adds the waits of a call to waits, by the names of their reasons, and returns the map. If waits is
// nil and the call has waits, it makes a map.
func (c *Clock) AddWaits(waits stats.Waits, call *pairing.Call, reasons []string) stats.Waits {
	for _, w := range call.Waits {
		if waits == nil {
			waits = make(stats.Waits)
		}
		waits[reasons[w.Reason]] += c.Duration(call.Start, call.Start+w.Ticks).Nanoseconds()
	}
	return waits
}
