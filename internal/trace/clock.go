package trace

import (
	"time"

	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/tracefs"
)

// Clock relates stamps of the trace clock to the time of day and to nanoseconds.
type Clock struct {
	tracefs.Timebase
	// present is what is known by now. Timebase follows it unless it is pinned to what was known
	// first: lines that are made of a call's entry and of its return are to agree, and those of
	// a tree to lie within each other.
	present tracefs.Timebase
	pinned  bool
}

// set takes what is known by now.
func (c *Clock) set(base tracefs.Timebase) {
	if c.present = base; !c.pinned || c.Clock == "" {
		c.Timebase = base
	}
}

// Took is how long a call took, by a clock that may have gone back meanwhile: cycles begin
// anew when a machine wakes up.
func (c *Clock) Took(call *parse.Call) time.Duration {
	return max(c.Duration(call.Start, call.End), 0)
}

// Split divides ns, which is what a call took, by what its goroutine was doing.
func (c *Clock) Split(call *parse.Call, ns int64) stats.Split {
	in := func(ticks uint64) int64 { return c.Duration(call.Start, call.Start+ticks).Nanoseconds() }
	return stats.Split{Running: in(call.Split.Running), Runnable: in(call.Split.Runnable), Waiting: in(call.Split.Waiting)}.Of(ns)
}
