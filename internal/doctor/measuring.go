package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// The cost of a hit is measured repeatedly, because machines change their speed. The wait between two batches doubles
// from firstWait to longestWait, because each batch takes a millisecond of a CPU. The cost is computed from the newest
// keptBatches batches.
const (
	keptBatches = 64
	firstWait   = 100 * time.Millisecond
	longestWait = 400 * time.Millisecond
)

// A hit in the traced program costs more than one in ftgo, which calls probed functions in a tight loop: the
// program's caches are colder and other CPUs compete. In programs that time themselves a hit took 0.98 to 1.37
// times as long, and ftgo's own measurements differ as much from one another (docs/dev/how-it-works.md). These
// factors turn the quartiles of the measurements into bounds and a typical cost.
const (
	leastInPlace   = 0.75
	typicalInPlace = 1.15
	mostInPlace    = 1.6
)

// Measuring measures the cost of a hit, on functions of ftgo itself, while a program is probed. It fails if ftgo is
// stripped, or if the kernel refuses the probes.
type Measuring struct {
	fs       *tracefs.FS
	funcs    Functions
	mode     uprobe.Mode
	stack    int // the number of callers that each call fetches
	costs    atomic.Pointer[pairing.HitCosts]
	err      error          // why costs is nil, once measured is closed
	measured chan struct{}  // closed when costs or err is set
	cancel   func()         // ends the measurement, which removes its probes
	working  sync.WaitGroup // done when the probes are removed
	panicked trace.Panicked
	batches  [len(Functions{})][]float64 // the newest results of timeBatch, by function
	stream   *pairing.Stream             // of the calls, and the clock of their times; only if the mode records latencies
	base     tracefs.Timebase
}

// NewMeasuring returns a measurement of hits that are recorded in a mode. stack is the number of callers that each hit
// fetches.
func NewMeasuring(fs *tracefs.FS, funcs Functions, mode uprobe.Mode, stack int) *Measuring {
	return &Measuring{fs: fs, funcs: funcs, mode: mode, stack: stack, measured: make(chan struct{}), cancel: func() {}}
}

// Start starts a goroutine that measures. The caller waits with Take before it arms the program's probes, because the
// kernel arms under locks (trace_types_lock, event_mutex) that it holds for whole grace periods: two that arm at once
// wait for each other.
func (m *Measuring) Start(ctx context.Context) {
	running, stop := context.WithCancel(ctx)
	m.cancel = stop
	m.working.Go(func() {
		defer m.panicked.Catch()
		measured := sync.OnceFunc(func() { close(m.measured) })
		defer measured()
		m.err = m.measure(ctx, running, measured)
	})
}

// measure measures until running is done. It calls measured when the first costs are known. The first batches
// do not end with running, because a short run needs a cost, too.
func (m *Measuring) measure(ctx, running context.Context, measured func()) (err error) {
	if err := checkDescriptors(descriptors); err != nil {
		return err
	}
	features := m.fs.Features()
	code, session, err := m.probe(ctx, features)
	if err != nil {
		return err
	}
	defer code.file.Close()
	// Closing takes longer than the first measurement. Take does not wait for it. End and Wait do.
	defer session.Close()
	if m.mode == uprobe.Latency {
		if m.base, err = session.Timebase(); err != nil {
			return err
		}
		// Only this process maps the probed code. The kernel may learn the process of a thread after its first hits.
		own := func(tid, printed int) (pid int, selected bool) { return os.Getpid(), true }
		m.stream, err = pairing.NewStream(code.plan, session, pairing.Options{Of: own, Mappings: procfs.Mappings})
		if err != nil {
			return err
		}
	}
	for range firstBatches {
		if err := m.timeBatch(ctx, code); err != nil {
			return err
		}
	}
	if code.plan.Funcs[Framed].Stepped || !code.plan.Funcs[Frameless].Stepped {
		return errors.New("the kernel single-steps other instructions than was thought")
	}
	m.costs.Store(m.quartiles())
	measured()
	// On kernels without Append every session makes the removal of all others slower, so the measurement ends at once
	// there.
	for wait := firstWait; features.Append; wait = min(2*wait, longestWait) {
		select {
		case <-running.Done():
			return nil
		case <-time.After(wait):
			if m.timeBatch(running, code) == nil {
				m.costs.Store(m.quartiles())
			}
		}
	}
	return nil
}

// descriptors is larger than the number of descriptors that a run and its measurement have open at the same time.
const descriptors = 24

// checkDescriptors returns EMFILE if fewer than need descriptors of this process are free. A measurement must not take
// the descriptors that the run needs to read its counters at the end. It opens no file to find out.
func checkDescriptors(need int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for fd := 0; need > 0 && uint64(fd) < limit.Cur; fd++ {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == syscall.EBADF {
			need--
		}
	}
	if need > 0 {
		return syscall.EMFILE
	}
	return nil
}

// Take waits for the first costs and returns the newest, or nil if they could not be measured. Call it after Start.
func (m *Measuring) Take() *pairing.HitCosts {
	if costs := m.costs.Load(); costs != nil { // Take runs for each call, and receiving from a channel takes a lock
		return costs
	}
	<-m.measured
	return m.costs.Load()
}

// Stop ends the measurement after its first batches. It does not wait.
func (m *Measuring) Stop() { m.cancel() }

// End stops the measurement and waits until its probes are removed.
func (m *Measuring) End() {
	m.Stop()
	m.working.Wait()
}

// Wait calls End, then panics again if the measurement panicked.
func (m *Measuring) Wait() {
	m.End()
	m.panicked.Raise()
}

// durations reads the stream until the buffer is empty. It returns the durations of the first function's calls by the
// kernel's time stamps, in nanoseconds.
func (m *Measuring) durations(ctx context.Context) (stamped []float64, err error) {
	for {
		for it, err := range m.stream.Read(ctx) {
			switch {
			case err != nil:
				return nil, err
			case it.Kind == pairing.Ended && it.Call.Func == Framed && it.Call.Outcome == pairing.Returned:
				stamped = append(stamped, float64(m.base.Duration(it.Call.Start, it.Call.End)))
			case it.Kind == pairing.Read && it.N == 0:
				return stamped, nil
			}
		}
	}
}

// timeBatch measures a batch of calls of each function. It appends to batches the costs of an emulated hit (Framed), of a
// single-stepped one (Frameless), of a word (Fetched) and of a page fault (Faulty), in nanoseconds.
func (m *Measuring) timeBatch(ctx context.Context, code *code) error {
	var cost [len(Functions{})]float64
	err := code.run(func() {
		for i, function := range m.funcs {
			timeCalls(function) // warm the caches, as they are in a busy program
			cost[i] = timeCalls(function)
		}
	})
	if err != nil {
		return err
	}
	cost[Fetched] = max(0, cost[Fetched]-cost[Framed]) / fetchedWords
	cost[Faulty] = max(0, (cost[Faulty]-cost[Framed])/faultyWords-cost[Fetched])
	if !recordsValues(m.mode) {
		cost[Fetched], cost[Faulty] = 0, 0
	}
	if m.mode == uprobe.Latency {
		stamped, err := m.durations(ctx) // all events are in the buffer by now
		if err != nil {
			return err
		}
		if len(stamped) != 2*batchCalls {
			return fmt.Errorf("probe ftgo itself: of %d calls the kernel has delivered %d", 2*batchCalls, len(stamped))
		}
		// The time between the stamps of an entry and its return contains half of the entry's hit and half of the
		// return's hit, together one hit.
		slices.Sort(stamped)
		cost[Framed] = stamped[len(stamped)/2]
		if code.plan.Processor.Machine().SteppedReturn {
			cost[Frameless] /= 2
		} else {
			cost[Frameless] = max(0, cost[Frameless]-cost[Framed])
		}
	}
	for i, batches := range m.batches {
		batches = append(batches, cost[i])
		m.batches[i] = batches[max(0, len(batches)-keptBatches):]
	}
	return nil
}

// quartiles returns the quartiles of the batches, each times its factor.
func (m *Measuring) quartiles() *pairing.HitCosts {
	at := func(quarter int, factor float64) pairing.HitCost {
		var ns [len(Functions{})]float64
		for i, batches := range m.batches {
			sorted := slices.Sorted(slices.Values(batches))
			ns[i] = max(sorted[quarter*(len(sorted)-1)/4]*factor, 0)
		}
		return pairing.HitCost{Emulated: ns[Framed], Stepped: ns[Frameless], Word: ns[Fetched], Fault: ns[Faulty]}
	}
	return &pairing.HitCosts{Least: at(1, leastInPlace), Typical: at(2, typicalInPlace), Most: at(3, mostInPlace)}
}
