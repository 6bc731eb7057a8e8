// Package own measures what probes cost, on functions of ftgo itself.
package own

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/internal/biases"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// The cost of a probe is measured again and again, some 0.7 ms each time, as machines change
// their speed: in batches of so many calls, of which the latest are kept. At first there are
// as many as tell a disturbed one from others.
const (
	batchCalls   = 12
	firstBatches = 9
	keptBatches  = 256
	batchEvery   = 100 * time.Millisecond
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

// costsOf makes costs of those that were measured in batches.
func costsOf(batches []trace.HitCost) trace.HitCosts {
	at := func(quarter int, factor float64) trace.HitCost {
		of := func(cost func(trace.HitCost) float64) float64 {
			all := make([]float64, len(batches))
			for i, b := range batches {
				all[i] = cost(b)
			}
			slices.Sort(all)
			return max(all[quarter*(len(all)-1)/4]*factor, 0)
		}
		return trace.HitCost{
			Emulated: of(func(c trace.HitCost) float64 { return c.Emulated }),
			Stepped:  of(func(c trace.HitCost) float64 { return c.Stepped }),
			Word:     of(func(c trace.HitCost) float64 { return c.Word }),
		}
	}
	return trace.HitCosts{Least: at(1, leastInPlace), Typical: at(2, typicalInPlace), Most: at(3, mostInPlace)}
}

// Measuring is a measurement on functions of ftgo itself, for as long as others are probed.
// It fails where ftgo is stripped, or nobody lets it try.
type Measuring struct {
	fs       *tracefs.FS
	funcs    Functions
	mode     uprobe.Mode
	stack    int // so many callers are fetched with each call
	begun    bool
	costs    atomic.Pointer[trace.HitCosts]
	measured chan struct{} // closed when there are costs, or will be none
	cancel   func()        // has the probes removed, once measured
	done     chan struct{} // closed when the probes are gone
	panicked trace.Panicked
}

// New returns what measures hits as they are recorded in a mode, with so many callers.
func New(fs *tracefs.FS, funcs Functions, mode uprobe.Mode, stack int) *Measuring {
	return &Measuring{fs: fs, funcs: funcs, mode: mode, stack: stack, measured: make(chan struct{}), done: make(chan struct{})}
}

// Begin measures while others do something else. It is for when the probes that were asked
// for are armed: the kernel arms and disarms under locks (trace_types_lock, event_mutex)
// which it keeps for whole grace periods, so that two who arm wait for each other.
func (m *Measuring) Begin(ctx context.Context) {
	wanted, stop := context.WithCancel(ctx)
	m.begun, m.cancel = true, stop
	go func() {
		defer close(m.done)
		defer m.panicked.Catch()
		measured := sync.OnceFunc(func() { close(m.measured) })
		defer measured()
		session, plan := probeSelf(ctx, m.fs, &m.funcs, m.mode, m.stack)
		if session == nil {
			return
		}
		// It takes longer than all the rest, and nobody waits for it.
		defer session.Close()
		meter := newMeter(m.funcs.all(), session, plan)
		for range firstBatches {
			meter.batch(ctx)
		}
		m.costs.Store(meter.costs())
		measured()
		// Each session makes the end of others take longer where an event has one site.
		for m.fs.Features().Append {
			select {
			case <-wanted.Done():
				return
			case <-time.After(batchEvery):
				meter.batch(wanted)
				m.costs.Store(meter.costs())
			}
		}
	}()
}

// Take waits for the costs, as they are by now; they are nil if they could not be measured. It
// is called after Begin.
func (m *Measuring) Take() *trace.HitCosts {
	<-m.measured
	return m.costs.Load()
}

// Ready tells whether Take would not wait.
func (m *Measuring) Ready() bool {
	select {
	case <-m.measured:
		return true
	default:
		return false
	}
}

// Stop has the probes removed.
func (m *Measuring) Stop() {
	if m.begun {
		m.cancel()
	}
}

// End waits until they are, if there are any.
func (m *Measuring) End() {
	if m.Stop(); m.begun {
		<-m.done
	}
}

// Wait is End, and goes on with the panic that the measurement may have ended by.
func (m *Measuring) Wait() {
	m.End()
	m.panicked.Raise()
}

// Function is a function of ftgo's that it probes in itself.
type Function struct {
	Name string
	Call func(int) int
}

// Functions are those that the costs are measured on: the kernel emulates the instruction that
// calls of Framed and of Fetched begin with, and single-steps that of Frameless, and any RET. Where
// Fetched is called words are fetched as well.
type Functions struct{ Framed, Frameless, Fetched Function }

func (f *Functions) all() []Function { return []Function{f.Framed, f.Frameless, f.Fetched} }

// planOwn plans the probing of all of them, in their order.
func planOwn(b *offsets.Binary, own []Function, opt uprobe.Options) (*uprobe.Plan, error) {
	var funcs []*offsets.Func
	for _, f := range own {
		fn, ok := b.Lookup(f.Name)
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

// fetchedWords is how many words are fetched at once to know what one costs.
const fetchedWords = 16

// fetchedArgs fetch these.
func fetchedArgs(b *offsets.Binary) (args []tracefs.Arg) {
	word := b.Processor().Machine().SP.At(0)
	for w := range fetchedWords {
		args = append(args, tracefs.Arg{Name: fmt.Sprintf("w%d", w), Fetch: word, Type: "s64"})
	}
	return args
}

// recordsValues tells whether there are values in a mode.
func recordsValues(mode uprobe.Mode) bool { return mode == uprobe.Latency || mode == uprobe.Entries }

// fetchWords has a function fetch words.
func fetchWords(b *offsets.Binary, name string) func(*offsets.Func, *offsets.Sites) (uprobe.Values, error) {
	return func(f *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
		if f.Name == name {
			v.Entry = &capture.Capture{Args: fetchedArgs(b), Counts: make([]int, fetchedWords)}
		}
		return v, nil
	}
}

// probeSelf probes them; session is nil if that can't be done.
func probeSelf(ctx context.Context, fsys *tracefs.FS, funcs *Functions, mode uprobe.Mode, stack int) (session *tracefs.Session, plan *uprobe.Plan) {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return nil, nil
	}
	defer b.Close()
	opt := uprobe.Options{Mode: mode, Features: fsys.Features(), Stack: stack, Returning: true}
	if recordsValues(mode) {
		opt.Values = fetchWords(b, funcs.Fetched.Name)
	}
	plan, err = planOwn(b, funcs.all(), opt)
	if err != nil {
		return nil, nil
	}
	session, err = tracefs.Start(ctx, fsys, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{BufferKB: 1024, Quiet: mode == uprobe.Count})
	if err != nil {
		return nil, nil
	}
	return session, plan
}

// meter measures what hits cost by calls of functions.
type meter struct {
	funcs   []Function
	session *tracefs.Session
	plan    *uprobe.Plan
	stream  *parse.Stream // nil if nothing is recorded
	base    tracefs.Timebase
	stamped []float64       // from begin to end of the first function's calls
	batches []trace.HitCost // what was measured
}

func newMeter(funcs []Function, session *tracefs.Session, plan *uprobe.Plan) *meter {
	m := &meter{funcs: funcs, session: session, plan: plan}
	if plan.Mode != uprobe.Latency {
		return m
	}
	var err error
	if m.base, err = session.Timebase(); err == nil {
		own := ownProcess{session.Process, biases.New(plan, false)}
		m.stream, _ = parse.NewStream(plan, session, own, m, parse.Options{})
	}
	return m
}

// ownProcess is ftgo's, among others that run the same file.
type ownProcess struct {
	find   func(tid, printed int) int
	biases *biases.Biases
}

func (o ownProcess) Of(tid, printed int) int                  { return o.find(tid, printed) }
func (o ownProcess) Wanted(_, pid int) (int, bool)            { return pid, true }
func (o ownProcess) Bias(pid int, addr uint64) (uint64, bool) { return o.biases.Of(pid, addr) }

// Return takes what a call of the first function took.
func (m *meter) Return(c *parse.Call) {
	if c.Func == 0 && c.Outcome == parse.Returned {
		m.stamped = append(m.stamped, float64(m.base.Duration(c.Start, c.End)))
	}
}

func (m *meter) Entry(*parse.Call)         {}
func (m *meter) Counted(int, int)          {}
func (m *meter) Kernel(*parse.KernelEvent) {}

// batch measures once more.
func (m *meter) batch(ctx context.Context) {
	var calls [3]float64 // what one takes of each function
	for i, own := range m.funcs {
		timeCalls(own.Call) // code and data may be far away, as they are not in a program that is busy
		calls[i] = timeCalls(own.Call)
	}
	cost := trace.HitCost{Emulated: calls[0], Stepped: calls[1]}
	if m.plan.Mode == uprobe.Latency {
		if m.stream == nil || !m.read(ctx) {
			return
		}
		// From one hit's time stamp on, and up to the other's, is what one hit takes.
		cost.Emulated, cost.Stepped = middle(m.stamped), cost.Stepped/2
		m.stamped = m.stamped[:0]
	}
	if recordsValues(m.plan.Mode) {
		cost.Word = (calls[2] - calls[0]) / fetchedWords
	}
	m.batches = append(m.batches, cost)
	if n := len(m.batches); n > keptBatches {
		m.batches = m.batches[n-keptBatches:]
	}
}

// read takes what was recorded, and tells whether there was anything.
func (m *meter) read(ctx context.Context) bool {
	for {
		if n, err := m.stream.Read(ctx); n == 0 || err != nil {
			return len(m.stamped) > 0 // it has all been there before
		}
	}
}

func (m *meter) costs() *trace.HitCosts {
	if len(m.batches) == 0 || m.plan.Funcs[0].Stepped || !m.plan.Funcs[1].Stepped {
		return nil
	}
	costs := costsOf(m.batches)
	return &costs
}

// timeCalls is the time of a call in nanoseconds, of a batch.
func timeCalls(call func(int) int) float64 {
	start := time.Now()
	for i := range batchCalls {
		call(i)
	}
	return float64(time.Since(start)) / batchCalls
}

// middle sorts numbers, of which there are some.
func middle(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
