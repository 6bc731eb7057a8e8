package trace

import (
	"context"

	"github.com/ftgo/ftgo/internal/pairing"
)

// Costs measures the cost of probe hits.
type Costs interface {
	// Start starts the measurement that Prepare has prepared. Call it after the probes are armed, because the measurement
	// arms probes of its own, which would delay them.
	Prepare(ctx context.Context)
	Start()
	// Ready reports whether Take returns at once.
	Ready() bool
	// Take waits for the first result and returns the latest one. It returns nil if the measurement has failed.
	Take() *pairing.HitCosts
	// Stop ends the measurement. End also waits until its probes are removed. Wait also repeats the panic of the
	// measuring goroutine, if it has panicked.
	Stop()
	End()
	Wait()
}

// NoCosts is a Costs that measures nothing.
type NoCosts struct{}

func (NoCosts) Prepare(context.Context) {}
func (NoCosts) Start()                  {}
func (NoCosts) Ready() bool             { return true }
func (NoCosts) Take() *pairing.HitCosts { return nil }
func (NoCosts) Stop()                   {}
func (NoCosts) End()                    {}
func (NoCosts) Wait()                   {}
