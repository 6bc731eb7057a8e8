package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options are what a [Source] is to do; not every one does all of it.
type Options struct {
	Filter
	Recorder
	Talk
	With    []string // names of the kernel events that are told
	Sched   bool     // latencies are split by what the scheduler did
	Entries bool     // calls are told when they begin
	Steady  bool     // times of a call's lines are to agree
	// Once: the first call of each process in an interval is enough; the probes are out for the
	// rest of it. Alone: there is one process.
	Once, Alone bool
	Inside      map[int]bool // functions, by their index in the plan: what they call is marked
	Limit       uint64       // how many calls are enough; 0 is no limit
	Wait        bool         // the window begins when a process runs the binary
	At          time.Time    // the window begins then, unless it is zero
	// Budget is the share of the CPU time of what is traced that probes may take; 0 is no limit.
	// Functions that take more are sampled, those that are Named, by their index in the plan, after others.
	Budget float64
	Named  map[int]bool
	Costs  Costs
	// Succeeded: other sources are of what replaces the binary.
	Succeeded bool
}

// Recorder says how hits are recorded.
type Recorder struct {
	Features tracefs.Features
	BufferKB int  // of the ring buffer of each CPU, 0 for what suits the machine
	Raw      bool // that of [tracefs.Options]
	Shared   bool // the top level of tracefs may be used, where instances stay empty
}

// Live tells what happens in processes that run a binary.
type Live struct {
	window
	armed     context.Context // that of Arm
	processes processes
	kernel    kernelEvents
	sampler   *sampler // nil without a budget
	rests     rests
	look      look
	calm      func()        // ends the haste in which the kernel takes probes out; nil if there is none
	waiting   bool          // nobody has run the binary yet
	stopped   bool          // the window has ended
	finished  bool          // and all of it was read
	marked    *tracefs.Mark // where the interval ends whose reading is due
}

// NewLive returns a source of what happens in the functions of a plan. The kernel is untouched.
func NewLive(fs *tracefs.FS, plan *uprobe.Plan, opt Options) *Live {
	l := &Live{window: window{plan: plan, opt: opt, fs: fs, vanished: newVanished(plan)}}
	l.clock.pinned = opt.Steady
	l.host, _ = os.Hostname() // without a name it is not told
	l.kernel = kernelEvents{processFilter: newProcessFilter(&opt), opt: &l.opt, followed: make(map[int]bool)}
	l.processes = processes{Biases: pairing.NewBiases(plan, false), live: l, among: make(map[int]bool)}
	l.look = look{lives: make(map[int]life)}
	return l
}

func (l *Live) Arm(ctx context.Context) (err error) {
	if err := l.awaitPlacing(ctx); err != nil {
		return err
	}
	l.armed = ctx
	if l.measuresFirst() {
		l.opt.Costs.Begin(ctx)
		// To make a session the kernel keeps locks for tens of milliseconds, which whoever removes probes that turn hot would wait for.
		l.opt.Costs.Take()
		l.hasten(true)
	}
	l.look.cpu = procfs.NewCPUTimes(l.opt.PIDs, l.plan.Binary.File().Link())
	// What is made last is hit first.
	if err := l.kernel.start(l.fs); err != nil {
		return err
	}
	l.kernel.followRunning(l.plan.Binary.File().Link())
	l.session, err = tracefs.Start(ctx, l.fs, l.plan.Target(), uprobe.TraceEvents(l.plan.Events), tracefs.Options{
		BufferKB: l.opt.BufferKB, Quiet: l.plan.Mode == uprobe.Count, Features: &l.opt.Features, Raw: l.opt.Raw, TopLevel: l.opt.Shared,
	})
	if err != nil {
		return err
	}
	l.counters = l.session
	if err := l.newStream(l.session, pairing.Processes{Of: l.processes.of, Bias: l.processes.Bias}, l.kernel.session); err != nil {
		return err
	}
	if err := l.awaitAt(ctx); err != nil {
		return err
	}
	if l.from, err = l.mark(); err != nil {
		return err
	}
	l.stream.Begin(l.session.Began, l.from.Ticks)
	l.noticeReplaced()
	if l.waiting = l.opt.Wait && len(procfs.Running(l.plan.Binary.File().Path())) == 0; !l.waiting {
		l.begin()
	}
	return nil
}

// measuresFirst tells whether it is known what hits cost before there are any.
func (l *Live) measuresFirst() bool { return l.opt.Budget > 0 && !l.opt.Once }

// Spawn starts a program. Its probes are in place before its first instruction.
func (l *Live) Spawn(p *Command) error {
	if err := l.kernel.spawn(p); err != nil {
		return err
	}
	l.program = p
	l.processes.Learn(p.Process.Pid)
	return nil
}

// calibrate does what may have to wait, and what is armed and started need not.
func (l *Live) calibrate() error {
	base, err := l.session.Timebase()
	if err != nil {
		return err
	}
	l.clock.set(base)
	if l.plan.Mode == uprobe.Latency && base.Step > 0 {
		l.opt.Warn(fmt.Sprintf("the trace clock %s goes in steps of %v: latencies are no more exact than that", printable.Text(base.Clock), base.Step.Round(time.Millisecond)))
	}
	if l.plan.Mode == uprobe.Latency {
		if pids := l.session.Neighbours(); len(pids) > 0 {
			l.opt.Warn(fmt.Sprintf("process %d, another ftgo, probes the same file: latencies have in them what its probes cost", pids[0]))
		}
	}
	if !l.measuresFirst() {
		l.opt.Costs.Begin(l.armed)
	}
	l.look.at = time.Now()
	if l.sampler, err = newSampler(l.armed, l); l.sampler == nil {
		l.opt.Costs.Now()
	}
	return err
}

// Read tells what was recorded, and looks after probes and processes.
func (l *Live) Read(ctx context.Context) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		if l.look.at.IsZero() && !l.stopped {
			if err := l.calibrate(); err != nil {
				yield(nil, err)
				return
			}
		}
		read := pairing.Item{What: pairing.Read}
		var failed error
		for it, err := range l.stream.Read(ctx) {
			switch {
			case err != nil:
				failed = err
			case it.What == pairing.Read:
				read.N = it.N
			case l.told(it) && !yield(it, nil):
				return
			}
		}
		more, err := l.after(read.N, failed)
		if more != nil {
			for it := range more {
				if l.told(it) && !yield(it, nil) {
					return
				}
			}
		}
		if yield(&read, nil) && err != nil {
			yield(nil, err)
		}
	}
}

// after does what is to be done behind a read of so much, which may have failed. There may be more to tell.
func (l *Live) after(n int, err error) (more pairing.Items, _ error) {
	if n == 0 {
		l.look.idle = time.Now()
	}
	switch {
	case l.stopped && err != nil:
		return l.finish(err)
	case err != nil || l.stopped:
		return nil, err
	case l.plan.Binary.File().Written():
		return nil, ErrWritten
	}
	if err := l.rest(); err != nil {
		return nil, err
	}
	if err := l.sampler.step(); err != nil {
		return nil, err
	}
	if _, full := l.stream.Ended(); full {
		return nil, ErrLimit
	}
	if time.Since(l.look.at) < looksEvery {
		return nil, nil
	}
	return l.lookAround()
}

// told does what an item of the stream is for, and returns whether it is for who reads the source, too.
func (l *Live) told(it *pairing.Item) bool {
	switch it.What {
	case pairing.Began:
		return !l.opt.Once || l.rests.first(it.Call, l.clock.present.Wall(it.Call.Start))
	case pairing.Kernel:
		return l.kernel.take(it.Event, l.stream.Within(it.Event.Time))
	case pairing.Marked:
		return l.marked != nil
	}
	return it.What != pairing.Read
}

// hit tells whether any probe was hit since the window began.
func (l *Live) hit() bool {
	profile, err := l.session.Profile()
	return err == nil && sumCounts(profile) > sumCounts(l.from.Hits)
}

// manySites is from how many on reading the counters takes more than some milliseconds: the
// time grows with the square, and is seconds for 50,000.
const manySites = 5000

// mark is a moment. The counters of many sites are read only where calls depend on them: the
// kernel does not tell processes apart.
func (l *Live) mark() (tracefs.Mark, error) {
	return l.session.Mark(l.opt.All() || l.plan.Probes() <= manySites)
}

// Mark ends an interval where its calls end in the stream.
func (l *Live) Mark() error {
	now, err := l.mark()
	if err != nil {
		return err
	}
	l.sampler.settle()
	l.stream.Mark(now.Ticks, func() { l.marked = &now })
	return nil
}

// Reading is that of the interval that has just ended, or the last.
func (l *Live) Reading() (*Reading, error) {
	switch {
	case l.marked != nil:
	case l.finished:
		return l.complete(l.last())
	default:
		return nil, nil
	}
	l.look.use(l.program)
	l.noticeOthers()
	r, err := l.complete(l.reading(*l.marked))
	l.marked = nil
	return r, errors.Join(err, l.resume())
}

// Stop ends the window, while all probes are still in place: what is hit as they go one after
// the other, and the program gains speed, is of no window.
func (l *Live) Stop() error {
	l.stopped = true
	until, err := l.mark()
	if err == nil {
		if at, ok := l.stream.Ended(); ok {
			until.Ticks, until.At = at, l.clock.present.Wall(at)
		}
		l.stream.End(until.Ticks)
	} else {
		until.At = time.Now()
	}
	l.until = until
	l.look.own = OwnCPU()
	l.look.stop(l.program)
	l.opt.Costs.Stop()
	l.sampler.end()
	if !l.rests.paused {
		l.noticeVanished(inspection)
	}
	l.session.Stop()
	return err
}

// finish comes when all was read that could be, until an error.
func (l *Live) finish(err error) (pairing.Items, error) {
	if events := l.kernel.session; events != nil {
		if paused := events.Pause(); paused != nil && errors.Is(err, io.EOF) {
			err = paused
		} else {
			err = errors.Join(err, paused)
		}
	}
	l.finished = true
	return l.stream.Finish(), err
}

// hasten has the kernel take probes out quickly from now on, or at its own pace.
func (l *Live) hasten(on bool) {
	switch {
	case on && l.calm == nil:
		l.calm = l.fs.Hurry()
	case !on && l.calm != nil:
		l.calm()
		l.calm = nil
	}
}

func (l *Live) Close() error {
	defer l.hasten(false)
	// First: where few files may be open, two who remove probes take them from each other.
	l.opt.Costs.End()
	err := l.window.Close()
	if events := l.kernel.session; events != nil {
		err = errors.Join(err, events.Close())
	}
	return err
}

// complete adds what only a live source knows.
func (l *Live) complete(r *Reading, err error) (*Reading, error) {
	r.Used, r.Waited = l.look.used, l.look.waited
	r.Own = cmp.Or(l.look.own, OwnCPU()) - l.own
	r.Budget = l.opt.Budget
	if m := l.sampler; m != nil {
		r.Whole, r.Changes = m.whole(func(i int) uint64 { return r.Counts.Funcs[i].Calls }), m.changes
	}
	var unknown error
	r.Kernel, unknown = l.kernel.audit(r.Counts.KernelUnparsed)
	return r, errors.Join(err, unknown)
}

// rests tell when the probes are out: with Options.Once, from when each process was seen until
// the interval ends.
type rests struct {
	seen   map[int]bool // processes, in this interval
	since  time.Time    // when the first of them was
	began  time.Time    // the interval
	paused bool
}

// first tells whether a call that has begun at a time is the first of its process in the interval. What was hit while the probe was being
// taken out is of the last one.
func (r *rests) first(c *pairing.Call, at time.Time) bool {
	if r.seen[c.PID] || at.Before(r.began) {
		return false
	}
	if len(r.seen) == 0 {
		r.seen, r.since = make(map[int]bool), time.Now()
	}
	r.seen[c.PID] = true
	return true
}

// gather is how long other processes have after the first to come by the probe.
const gather = 100 * time.Millisecond

// rest takes the probes out for what is left of the interval once all that is wanted is there.
func (l *Live) rest() error {
	r := &l.rests
	if r.paused || len(r.seen) == 0 || !l.opt.Alone && time.Since(r.since) <= gather {
		return nil
	}
	r.paused = true
	return l.session.Pause()
}

// resume begins another interval.
func (l *Live) resume() error {
	paused := l.rests.paused
	if l.rests = (rests{began: time.Now()}); paused {
		return l.session.Resume(context.Background())
	}
	return nil
}
