package main

import (
	"context"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// probedCalls is how many calls the cost of a probe is measured with: some 20 ms
// where each costs 10 µs.
const probedCalls = 2000

// hitCost measures, on a function of ftgo itself, what the probes of one call cost the
// one who makes it, in nanoseconds. It is 0 where that can't be told: a stripped
// ftgo, or nobody to let it try.
func hitCost(ctx context.Context, fsys *tracefs.FS, mode uprobe.Mode) float64 {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return 0
	}
	defer b.Close()
	f, ok := b.Lookup("main.framed")
	if !ok {
		return 0
	}
	plan, err := uprobe.New(b, []*offsets.Func{f}, uprobe.Options{Mode: mode, Features: fsys.Features()})
	if err != nil || len(plan.Funcs) == 0 {
		return 0
	}
	bare := timeFramed()
	session, err := tracefs.Start(ctx, fsys, plan.Target(), plan.TraceEvents(), tracefs.Options{BufferKB: 1024, Quiet: mode == uprobe.Count})
	if err != nil {
		return 0
	}
	probed := timeFramed()
	if session.Close() != nil {
		return 0
	}
	return float64(probed-bare) / probedCalls
}

func timeFramed() time.Duration {
	start := time.Now()
	for i := range probedCalls {
		framed(i)
	}
	return time.Since(start)
}

// framed has a frame and a stack check, as most functions do.
//
//go:noinline
func framed(n int) int { return frameless(n) + 1 }

//go:noinline
func frameless(n int) int { return n * 3 }
