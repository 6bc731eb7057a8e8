package trace

import (
	"context"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
)

// Clock relates stamps of the trace clock to the time of day and to nanoseconds.
type Clock struct {
	machine.Timebase
	// present is what is known by now. Timebase follows it unless it is pinned to what was known
	// first: lines that are made of a call's entry and of its return are to agree, and those of
	// a tree to lie within each other.
	present machine.Timebase
	pinned  bool
}

// set takes what is known by now.
func (c *Clock) set(base machine.Timebase) {
	if c.present = base; !c.pinned || c.Clock == "" {
		c.Timebase = base
	}
}

// Took is how long a call took, by a clock that may have gone back meanwhile: cycles begin
// anew when a machine wakes up.
func (c *Clock) Took(call *pairing.Call) time.Duration {
	return max(c.Duration(call.Start, call.End), 0)
}

// Split divides ns, which is what a call took, by what its goroutine was doing.
func (c *Clock) Split(call *pairing.Call, ns int64) stats.Split {
	in := func(of pairing.Activity) int64 {
		return c.Duration(call.Start, call.Start+call.Split[of]).Nanoseconds()
	}
	return stats.Split{Running: in(pairing.Running), Runnable: in(pairing.Runnable), Waiting: in(pairing.Waiting)}.Of(ns)
}

// AddWaits adds what the goroutine of a call has waited for, of these reasons, to waits, which may be
// nil.
func (c *Clock) AddWaits(waits stats.Waits, call *pairing.Call, reasons []string) stats.Waits {
	for _, w := range call.Waits {
		if waits == nil {
			waits = make(stats.Waits)
		}
		waits[reasons[w.Reason]] += c.Duration(call.Start, call.Start+w.Ticks).Nanoseconds()
	}
	return waits
}

// Costs tell what hits of probes cost, as far as that is known by now.
type Costs interface {
	// Begin is to measure, when the probes that were asked for are armed, from Now on.
	Begin(ctx context.Context)
	Now()
	// Ready tells whether Take would not wait.
	Ready() bool
	// Take waits until something is known; it is nil if nothing ever will be.
	Take() *pairing.HitCosts
	// Stop ends the measuring, End waits until nothing of it is left, and Wait goes on with the
	// panic that it may have ended by.
	Stop()
	End()
	Wait()
}

// NoCosts are those of who does not ask.
type NoCosts struct{}

func (NoCosts) Begin(context.Context)   {}
func (NoCosts) Now()                    {}
func (NoCosts) Ready() bool             { return true }
func (NoCosts) Take() *pairing.HitCosts { return nil }
func (NoCosts) Stop()                   {}
func (NoCosts) End()                    {}
func (NoCosts) Wait()                   {}
