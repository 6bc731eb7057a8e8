package session

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

const (
	// longRemoval is how long probes may take to go that are placed without being asked: 250 of
	// them, or 2500 where that is expedited.
	longRemoval = 8 * time.Second
	// disarming is how long a probe takes that is an event of its own, for a grace period of the
	// kernel, and expedited where that is cut short: what is left is the definition and all the rest.
	disarming = 32 * time.Millisecond
	expedited = 3200 * time.Microsecond
)

// pace is how long a probe takes to go, 0 where places of one kind share an event.
func pace(features tracefs.Features, fsys *tracefs.FS) time.Duration {
	switch {
	case features.Append:
		return 0
	case fsys != nil && fsys.CanExpedite():
		return expedited
	}
	return disarming
}

// checkProbes refuses more probes than are allowed; each takes so long to go. A long time is told
// before it begins.
func (r *Recorder) checkProbes(e *Env, probes int, each time.Duration) error {
	limit := r.MaxProbes
	takes := time.Duration(probes) * each
	switch {
	case r.DryRun:
	case limit > 0 && probes > limit:
		return cli.WithStatus(cli.ExitUsage, fmt.Errorf("%d probes: more than --max-probes %d", probes, limit))
	case limit == 0 && takes > longRemoval:
		return cli.WithStatus(cli.ExitUsage, fmt.Errorf("%d probes, each an event of its own on this kernel (Linux before 5.4), which take %v to remove: name fewer functions, or give --max-probes %d", probes, takes.Round(time.Second), probes))
	case takes > time.Second:
		e.Say("%d probes, each an event of its own on this kernel (Linux before 5.4), will take some %v to remove", probes, takes.Round(time.Second))
	}
	return nil
}
