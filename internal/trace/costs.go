package trace

import (
	"context"

	"github.com/ftgo/ftgo/internal/pairing"
)

// Costs measures the cost of probe hits.
type Costs interface {
	// Start starts the measurement. Take waits for the first result, and returns the latest one. It returns nil if the
	// measurement has failed. Live calls both before it arms the probes, because each session that the measurement sets
	// up would delay the removal of the probes of hot functions.
	Start(ctx context.Context)
	Take() *pairing.HitCosts
	// Stop ends the measurement. End also waits until its probes are removed. Wait is End, and panics again
	// if the measuring goroutine has panicked.
	Stop()
	End()
	Wait()
}

// NoCosts is a Costs that measures nothing.
type NoCosts struct{}

func (NoCosts) Start(context.Context)   {}
func (NoCosts) Take() *pairing.HitCosts { return nil }
func (NoCosts) Stop()                   {}
func (NoCosts) End()                    {}
func (NoCosts) Wait()                   {}
