package main

import (
	"fmt"
	"time"
)

const (
	// probesAlone is how many probes are placed without being asked where each is an event
	// of its own, and disarming is how long each then takes to disarm.
	probesAlone = 250
	disarming   = 32 * time.Millisecond
)

// checkProbes refuses more probes than are allowed. shared: places of one kind can share an
// event.
func (o *options) checkProbes(probes int, shared bool) error {
	limit := o.maxProbes
	switch {
	case o.dryRun:
	case limit > 0 && probes > limit:
		return &statusError{exitUsage, fmt.Errorf("%d probes: more than --max-probes %d", probes, limit)}
	case limit == 0 && !shared && probes > probesAlone:
		takes := (time.Duration(probes) * disarming).Round(time.Second)
		return &statusError{exitUsage, fmt.Errorf("%d probes, each an event of its own on this kernel (Linux before 5.4), which take %v to remove: name fewer functions, or give --max-probes %d", probes, takes, probes)}
	}
	return nil
}
