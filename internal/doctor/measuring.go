package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// The cost of a probe is measured again and again, as machines change their speed, and ever less often,
// as it takes a millisecond of a CPU each time. The latest batches are kept.
const (
	keptBatches = 64
	firstWait   = 100 * time.Millisecond
	longestWait = 400 * time.Millisecond
)

// What a hit costs the program is not what it costs ftgo, which does nothing but call
// probed functions: caches are cold, other CPUs are in the way, and the machine changes its
// speed. In programs that time themselves a hit took 0.98 to 1.37 times as long, and ftgo's
// own measurements differ as much from one another (docs/how-it-works.md).
const (
	leastInPlace   = 0.75
	typicalInPlace = 1.15
	mostInPlace    = 1.6
)

// Measuring is a measurement on functions of ftgo itself, for as long as others are probed.
// It fails where ftgo is stripped, or nobody lets it try.
type Measuring struct {
	fs       *tracefs.FS
	funcs    Functions
	mode     uprobe.Mode
	stack    int // so many callers are fetched with each call
	costs    atomic.Pointer[pairing.HitCosts]
	err      error          // why there are none, if measured is closed
	now      func()         // closes begin, once
	begin    chan struct{}  // closed when it is time to measure
	ready    atomic.Bool    // there are costs, or will be none
	measured chan struct{}  // closed then
	cancel   func()         // has the probes removed, once measured
	working  sync.WaitGroup // until the probes are gone
	panicked trace.Panicked
}

// NewMeasuring returns what measures hits as they are recorded in a mode, with so many callers.
func NewMeasuring(fs *tracefs.FS, funcs Functions, mode uprobe.Mode, stack int) *Measuring {
	m := &Measuring{fs: fs, funcs: funcs, mode: mode, stack: stack, begin: make(chan struct{}), measured: make(chan struct{}), cancel: func() {}}
	m.now = sync.OnceFunc(func() { close(m.begin) })
	return m
}

// Begin measures while others do something else, from Now on. It is for when the probes that were asked
// for are armed, and what is too hot is disarmed: the kernel arms and disarms under locks (trace_types_lock,
// event_mutex) which it keeps for whole grace periods, so that two who arm wait for each other.
func (m *Measuring) Begin(ctx context.Context) {
	wanted, stop := context.WithCancel(ctx)
	m.cancel = stop
	m.working.Go(func() {
		defer m.panicked.Catch()
		measured := sync.OnceFunc(func() {
			m.ready.Store(true)
			close(m.measured)
		})
		defer measured()
		<-m.begin
		m.err = m.measure(ctx, wanted, measured)
	})
}

// measure measures until wanted is over, and tells when there are costs.
func (m *Measuring) measure(ctx, wanted context.Context, measured func()) (err error) {
	if err := checkDescriptors(descriptors); err != nil {
		return err
	}
	features := m.fs.Features()
	opt := uprobe.Options{Mode: m.mode, Features: features, Stack: m.stack, Returning: true}
	session, plan, code, err := m.funcs.probe(ctx, m.fs, opt, tracefs.Options{BufferKB: 1024, Quiet: m.mode == uprobe.Count})
	if err != nil {
		return err
	}
	defer code.file.Close()
	// It takes longer than all the rest, and nobody waits for it.
	defer session.Close()
	meter, err := newMeter(m.funcs, session, plan, code)
	if err != nil {
		return err
	}
	for range firstBatches {
		if err := meter.batch(ctx); err != nil {
			return err
		}
	}
	if plan.Funcs[0].Stepped || !plan.Funcs[1].Stepped {
		return errors.New("the kernel single-steps other instructions than was thought")
	}
	m.costs.Store(meter.costs())
	measured()
	// Each session makes the end of others take longer where an event has one site.
	for wait := firstWait; features.Append; wait = min(2*wait, longestWait) {
		select {
		case <-wanted.Done():
			return nil
		case <-time.After(wait):
			if meter.batch(wanted) == nil {
				m.costs.Store(meter.costs())
			}
		}
	}
	return nil
}

// descriptors are more than a measurement and a run have open at a time.
const descriptors = 24

// checkDescriptors fails if so many files more can't be open: what a measurement takes, the run lacks, which
// reads its counters at the end. It opens none to find out, because the run would lack that one, too.
func checkDescriptors(files int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for fd := 0; files > 0 && uint64(fd) < limit.Cur; fd++ {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == syscall.EBADF {
			files--
		}
	}
	if files > 0 {
		return syscall.EMFILE
	}
	return nil
}

// Now has the measuring begin.
func (m *Measuring) Now() { m.now() }

// Take waits for the costs, as they are by now; they are nil if they could not be measured. It
// is called after Begin.
func (m *Measuring) Take() *pairing.HitCosts {
	if !m.ready.Load() { // else it is asked for each call, and a channel has a lock
		m.now()
		<-m.measured
	}
	return m.costs.Load()
}

// Ready tells whether Take would not wait.
func (m *Measuring) Ready() bool { return m.ready.Load() }

// Stop has the probes removed.
func (m *Measuring) Stop() {
	m.now() // what was asked for is measured even so
	m.cancel()
}

// End waits until they are, if there are any.
func (m *Measuring) End() {
	m.Stop()
	m.working.Wait()
}

// Wait is End, and goes on with the panic that the measurement may have ended by.
func (m *Measuring) Wait() {
	m.End()
	m.panicked.Raise()
}

// meter measures what hits cost by calls of functions.
type meter struct {
	funcs   Functions
	plan    *uprobe.Plan
	code    *code
	stream  *pairing.Stream // nil if nothing is recorded
	base    machine.Timebase
	stamped []float64               // from begin to end of the first function's calls
	batches [len(costs{})][]float64 // what was measured
}

func newMeter(funcs Functions, session *tracefs.Session, plan *uprobe.Plan, code *code) (m *meter, err error) {
	m = &meter{funcs: funcs, plan: plan, code: code}
	if plan.Mode != uprobe.Latency {
		return m, nil
	}
	if m.base, err = session.Timebase(); err == nil {
		all := pairing.Processes{Of: pairing.Selected(session.Process), Bias: pairing.NewBiases(plan, false).Bias}
		m.stream, err = pairing.NewStream(plan, session, all, pairing.Options{})
	}
	return m, err
}

// read takes what calls of the first function took, until there are none.
func (m *meter) read(ctx context.Context) error {
	for {
		for it, err := range m.stream.Read(ctx) {
			switch {
			case err != nil:
				return err
			case it.What == pairing.Ended && it.Call.Func == 0 && it.Call.Outcome == pairing.Returned:
				m.stamped = append(m.stamped, float64(m.base.Duration(it.Call.Start, it.Call.End)))
			case it.What == pairing.Read && it.N == 0:
				return nil
			}
		}
	}
}

// batch measures once more.
func (m *meter) batch(ctx context.Context) error {
	var cost costs
	err := m.code.run(func() {
		cost = m.funcs.timed(func(call func(int) int) float64 {
			timeCalls(call) // code and data may be far away, as they are not in a program that is busy
			return timeCalls(call)
		})
	})
	if err != nil {
		return err
	}
	if cost.apart(); !recordsValues(m.plan.Mode) {
		cost[2], cost[3] = 0, 0
	}
	if m.plan.Mode == uprobe.Latency {
		m.stamped = m.stamped[:0]
		if err := m.read(ctx); err != nil { // it has all been there before
			return err
		}
		if len(m.stamped) != 2*batchCalls {
			return fmt.Errorf("probe ftgo itself: of %d calls the kernel has delivered %d", 2*batchCalls, len(m.stamped))
		}
		// From one hit's time stamp on, and up to the other's, is what one hit takes.
		cost[0] = middle(m.stamped)
		if m.plan.Processor.Machine().SteppedReturn {
			cost[1] /= 2
		} else {
			cost[1] = max(0, cost[1]-cost[0])
		}
	}
	for i, kept := range m.batches {
		kept = append(kept, cost[i])
		m.batches[i] = kept[max(0, len(kept)-keptBatches):]
	}
	return nil
}

// costs are quartiles of what was measured.
func (m *meter) costs() *pairing.HitCosts {
	at := func(quarter int, factor float64) pairing.HitCost {
		var of costs
		for i, kept := range m.batches {
			sorted := slices.Sorted(slices.Values(kept))
			of[i] = max(sorted[quarter*(len(sorted)-1)/4]*factor, 0)
		}
		return of.hit()
	}
	return &pairing.HitCosts{Least: at(1, leastInPlace), Typical: at(2, typicalInPlace), Most: at(3, mostInPlace)}
}
