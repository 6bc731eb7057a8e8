package main

import (
	"context"
	"slices"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// The cost of a probe is measured with so many calls in so many batches, some 20 ms where
// each costs 20 µs. The median batch is not disturbed by what else the machine does.
const (
	costBatches = 21
	batchCalls  = 48
)

// hitCosts are what probes cost the program: by whether the kernel emulates the instruction
// where calls begin, as it does where a frame is made, or single-steps it.
type hitCosts struct{ emulated, stepped hitCost }

// hitCost is in nanoseconds, 0 if it is not known.
type hitCost struct {
	// call is what the probes of one call cost the caller, within is how much of that is
	// between the time stamps of begin and end: at least, it is the least that was seen.
	call, within float64
}

// measureHits measures on functions of ftgo itself. It can't where ftgo is stripped, or
// nobody lets it try.
func measureHits(ctx context.Context, fsys *tracefs.FS, mode uprobe.Mode) hitCosts {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return hitCosts{}
	}
	defer b.Close()
	return hitCosts{
		emulated: measureHit(ctx, fsys, mode, b, "main.framed", framed),
		stepped:  measureHit(ctx, fsys, mode, b, "main.frameless", frameless),
	}
}

func measureHit(ctx context.Context, fsys *tracefs.FS, mode uprobe.Mode, b *offsets.Binary, name string, call func(int) int) (c hitCost) {
	f, ok := b.Lookup(name)
	if !ok {
		return c
	}
	plan, err := uprobe.New(b, []*offsets.Func{f}, uprobe.Options{Mode: mode, Features: fsys.Features()})
	if err != nil || len(plan.Funcs) == 0 {
		return c
	}
	bare := timeCalls(call)
	session, err := tracefs.Start(ctx, fsys, plan.Target(), plan.TraceEvents(), tracefs.Options{BufferKB: 1024, Quiet: mode == uprobe.Count})
	if err != nil {
		return c
	}
	c.call = max(timeCalls(call)-bare, 0)
	session.Stop()
	base := session.Timebase()
	for ended, err := range parse.Calls(ctx, session, plan) {
		if err == nil && ended.Outcome == parse.Returned {
			if ns := float64(base.Duration(ended.Start, ended.End)); c.within == 0 || ns < c.within {
				c.within = ns
			}
		}
	}
	c.within = max(c.within-bare, 0)
	if session.Close() != nil {
		return hitCost{}
	}
	return c
}

// timeCalls is the time of one call in nanoseconds.
func timeCalls(call func(int) int) float64 {
	var batches [costBatches]float64
	for b := range batches {
		start := time.Now()
		for i := range batchCalls {
			call(i)
		}
		batches[b] = float64(time.Since(start)) / batchCalls
	}
	slices.Sort(batches[:])
	return batches[costBatches/2]
}

// framed has a frame and a stack check, as most functions do.
//
//go:noinline
func framed(n int) int { return frameless(n) + 1 }

//go:noinline
func frameless(n int) int { return n * 3 }
