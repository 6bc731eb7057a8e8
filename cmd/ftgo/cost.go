package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// The cost of a probe is measured with so many calls in so many batches, some 7 ms where
// each costs 20 µs and 40 µs. The median batch is not disturbed by what else the machine
// does.
const (
	costBatches = 9
	batchCalls  = 12
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

// measuring is a measurement on functions of ftgo itself. It fails where ftgo is stripped,
// or nobody lets it try.
type measuring struct {
	mode     uprobe.Mode
	stack    int // so many callers are fetched with each call
	begun    bool
	costs    hitCosts
	measured chan struct{} // closed when costs are there
	done     chan struct{} // closed when the probes are gone
	panicked panicked
}

func newMeasuring(mode uprobe.Mode, stack int) *measuring {
	return &measuring{mode: mode, stack: stack, measured: make(chan struct{}), done: make(chan struct{})}
}

// begin measures while others do something else. It is for when the probes that were asked
// for are armed: the kernel arms and disarms under locks (trace_types_lock, event_mutex)
// which it keeps for whole grace periods, so that two who arm wait for each other.
func (m *measuring) begin(ctx context.Context, fsys *tracefs.FS) {
	m.begun = true
	go func() {
		defer close(m.done)
		defer m.panicked.catch()
		measured := sync.OnceFunc(func() { close(m.measured) })
		defer measured()
		session, plan := probeSelf(ctx, fsys, m.mode, m.stack)
		if session == nil {
			return
		}
		// It takes longer than all the rest, and nobody waits for it.
		defer session.Close()
		m.costs = measure(ctx, session, plan)
		measured()
	}()
}

// take waits for the costs; they are 0 if they could not be measured. It is called after
// begin.
func (m *measuring) take() hitCosts {
	<-m.measured
	return m.costs
}

// ready tells whether take would not wait.
func (m *measuring) ready() bool {
	select {
	case <-m.measured:
		return true
	default:
		return false
	}
}

// wait waits for the probes to be removed, if there are any.
func (m *measuring) wait() {
	if m.begun {
		<-m.done
		m.panicked.raise()
	}
}

// ownFunction is a function of ftgo's that it probes in itself.
type ownFunction struct {
	name string
	call func(int) int
}

// planOwn plans the probing of all of them, in their order.
func planOwn(b *offsets.Binary, own []ownFunction, opt uprobe.Options) (*uprobe.Plan, error) {
	var funcs []*offsets.Func
	for _, f := range own {
		fn, ok := b.Lookup(f.name)
		if !ok {
			return nil, errNotItself
		}
		funcs = append(funcs, fn)
	}
	plan, err := uprobe.New(b, funcs, opt)
	if err == nil && len(plan.Funcs) != len(own) {
		err = fmt.Errorf("probe %s: %w", plan.Skipped[0].Func.Name, plan.Skipped[0].Reason)
	}
	return plan, err
}

// ownFunctions are those that the costs are measured on.
var ownFunctions = []ownFunction{{"main.framed", framed}, {"main.frameless", frameless}}

// probeSelf probes them; session is nil if that can't be done.
func probeSelf(ctx context.Context, fsys *tracefs.FS, mode uprobe.Mode, stack int) (session *tracefs.Session, plan *uprobe.Plan) {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return nil, nil
	}
	defer b.Close()
	plan, err = planOwn(b, ownFunctions, uprobe.Options{Mode: mode, Features: fsys.Features(), Stack: stack, Returning: true})
	if err != nil {
		return nil, nil
	}
	session, err = tracefs.Start(ctx, fsys, plan.Target(), plan.TraceEvents(), tracefs.Options{BufferKB: 1024, Quiet: mode == uprobe.Count})
	if err != nil {
		return nil, nil
	}
	return session, plan
}

func measure(ctx context.Context, session *tracefs.Session, plan *uprobe.Plan) (costs hitCosts) {
	into := [...]*hitCost{&costs.emulated, &costs.stepped}
	for i, own := range ownFunctions {
		into[i].call = timeCalls(own.call)
	}
	if plan.Mode != uprobe.Latency {
		return costs
	}
	base, err := session.Timebase()
	if err != nil {
		return costs
	}
	stream, err := parse.NewStream(plan, func(c *parse.Call) {
		ns := float64(base.Duration(c.Start, c.End))
		if w := &into[c.Func].within; c.Outcome == parse.Returned && (*w == 0 || ns < *w) {
			*w = ns
		}
	})
	if err != nil {
		return costs
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := session.Read(ctx, buf)
		stream.Feed(buf[:n])
		if n == 0 || err != nil {
			stream.Idle() // it has all been there before
			return costs
		}
	}
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
func framed(n int) int { return called(n) + 1 }

//go:noinline
func called(n int) int { return n * 5 }

//go:noinline
func frameless(n int) int { return n * 3 }
