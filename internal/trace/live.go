package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Options configure a [Source]. A [Recording] ignores the options that only make sense for running processes.
type Options struct {
	procfs.Filter
	Talk
	pairing.Options                 // the source sets Of, Mappings and Kernel
	Recorder        tracefs.Options // the source sets Quiet
	With            []string        // names of the kernel events to show
	Steady          bool            // pin the clock, so that a call has the same start when it begins and when it ends (see Clock)
	// Once yields only the first call of each process in an interval, and removes the probes for the rest of the
	// interval.
	Once bool
	// Budget is the share of the traced processes' CPU time that probes may take; 0 for no limit. Functions with
	// probes that take more are sampled, those with the role Named last.
	Budget float64
	// CostLimit is the share of the traced processes' CPU time that ends the window, if probes take more; 0 for no limit.
	CostLimit float64
	Costs     Costs
	// Successors says that other sources trace the file that replaces the binary, so that this source does not
	// report the replacement.
	Successors bool
	// Alone says that only the processes of PIDs get probes that only count, if the kernel allows it. Then it records none
	// of these calls. Verbose prints a message which of both happens.
	Alone, Verbose bool
}

// Live is a [Source] that traces running processes.
type Live struct {
	window
	fs      *tracefs.FS
	session *tracefs.Session // nil before Arm
	program *Command         // nil if none was started
	// CPU time of this process when the window began and, 0 before, when it ended
	ownCPU, ownCPUAtEnd time.Duration
	vanished            probeCheck
	armCtx              context.Context // the context of Arm
	among               map[int]bool    // results of Filter.Among, by process
	sole                int             // the only process seen so far, 0 for none, -1 for several
	kernel              *kernelEvents
	sampler             *sampler       // nil if nothing is sampled
	tally               *tally         // nil if all processes have all probes
	counted             map[int]uint64 // the calls of each function that only the kernel's counters have shown
	once                onceState
	// The following fields belong to the periodic checks of the processes: the times of the last check, and of the last
	// read that returned nothing. lives holds the processes that have hit probes. It drops a process once all of its
	// events were read, so that a thousand short processes take no more memory than a few.
	checkedAt, idleAt time.Time
	lives             map[int]life
	// saidReplaced holds the processes that executed another file from the beginning, or for which a message says so.
	// Key 0 stands for the path of the binary.
	saidReplaced map[int]bool
	saidForeign  bool             // said that processes of another PID namespace are forgotten
	saidOthers   bool             // said that other processes run the file, with Filter.OnlyUser
	cpu          *procfs.CPUTimes // of the traced processes
	used         time.Duration    // CPU time of the traced processes in the window
	waited       float64          // share of runnable time that threads waited for a CPU
	endHurry     func()           // ends the short grace periods of setHurry; nil outside of them
	stopped      bool             // Stop was called
	finished     bool             // all events of the window were read
	intervalEnd  *tracefs.Mark    // end of the interval that Reading returns next; nil if Reading was called since
}

// NewLive returns a source that traces the functions of a plan. It does not touch the kernel before Arm.
func NewLive(fs *tracefs.FS, plan *uprobe.Plan, opt Options) *Live {
	l := &Live{window: window{plan: plan, opt: opt}, fs: fs, among: make(map[int]bool), lives: make(map[int]life), counted: make(map[int]uint64), vanished: newProbeCheck(plan)}
	l.clock.pinned = opt.Steady
	l.host, _ = os.Hostname() // empty on error: the summary then has no host
	l.kernel = newKernelEvents(&l.opt, plan.Sched)
	return l
}

func (l *Live) Arm(ctx context.Context) (err error) {
	defer l.opt.Progress("placing the probes")()
	l.armCtx = ctx
	l.opt.Costs.Start(ctx)
	l.opt.Costs.Take()
	if l.opt.Budget > 0 && !l.opt.Once {
		l.setHurry(true)
	}
	l.cpu = procfs.NewCPUTimes(l.opt.PIDs, l.plan.Binary.File().Link())
	// The kernel events come first, because a probe may be hit as soon as it is armed.
	if err := l.kernel.start(l.fs); err != nil {
		return err
	}
	l.kernel.followRunning(l.plan.Binary.File().Link())
	l.opt.Recorder.Quiet = l.plan.Mode == uprobe.Count
	if l.opt.Alone {
		err := l.findBreakpoints()
		if l.opt.Explain(err); err == nil {
			l.opt.Recorder.Alone = l.opt.PIDs
		}
	}
	l.session, err = tracefs.Start(ctx, l.fs, l.plan.Target(), uprobe.TraceEvents(l.plan.Events), l.opt.Recorder)
	if err != nil {
		return err
	}
	l.counters = l.session
	if l.kernel.session != nil {
		l.opt.Kernel = l.kernel.session
	}
	l.opt.Mappings = procfs.Mappings
	if err := l.newStream(l.session, l.findProcess); err != nil {
		return err
	}
	if l.from, err = l.mark(); err != nil {
		return err
	}
	l.tally = newTally(l)
	l.stream.Begin(l.session.Began, l.from.Ticks)
	l.reportReplaced()
	l.ownCPU = OwnCPU()
	return nil
}

// Spawn starts a program. Its probes are in place before its first instruction.
func (l *Live) Spawn(p *Command) error {
	if err := l.kernel.spawn(p); err != nil {
		return err
	}
	l.program = p
	l.stream.Learn(p.Process.Pid)
	return nil
}

// calibrate compares the clocks, which takes up to 20 ms, and starts the sampler. The first Read calls it, so that Arm and
// Spawn need not wait.
func (l *Live) calibrate() error {
	base, err := l.session.Timebase()
	if err != nil {
		return err
	}
	l.clock.update(base)
	if l.plan.Mode == uprobe.Latency {
		if pid := l.session.Neighbour(); pid != 0 {
			l.opt.Warn(fmt.Sprintf("process %d, another ftgo, probes the same file: latencies include the cost of its probes", pid))
		}
	}
	l.checkedAt = time.Now()
	l.sampler, err = newSampler(l.armCtx, l)
	return err
}

// Read yields the recorded items. After each read it checks the probes and the processes.
func (l *Live) Read(ctx context.Context) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		if l.checkedAt.IsZero() && !l.stopped {
			if err := l.calibrate(); err != nil {
				yield(nil, err)
				return
			}
		}
		read := pairing.Item{Kind: pairing.Read}
		var failed error
		for it, err := range l.stream.Read(ctx) {
			switch {
			case err != nil:
				failed = err
			case it.Kind == pairing.Read:
				read.N = it.N
			case l.handle(it) && !yield(it, nil):
				return
			}
		}
		more, err := l.afterRead(read.N, failed)
		if more != nil {
			for it := range more {
				if l.handle(it) && !yield(it, nil) {
					return
				}
			}
		}
		if yield(&read, nil) && err != nil {
			yield(nil, err)
		}
	}
}

// afterRead does the work between two reads: it pauses probes, runs the sampler and checks the processes. n and err are
// the result of the read. It returns the items of processes that have ended, or after Stop the last items.
func (l *Live) afterRead(n int, err error) (more iter.Seq[*pairing.Item], _ error) {
	if n == 0 {
		l.idleAt = time.Now()
	}
	switch {
	case l.stopped && err != nil:
		return l.finish(err)
	case err != nil || l.stopped:
		return nil, err
	case l.plan.Binary.File().Written():
		return nil, errOver
	}
	if err := l.pauseProbes(); err != nil {
		return nil, err
	}
	if err := l.sampler.step(); err != nil {
		return nil, err
	}
	if _, full := l.stream.Ended(); full {
		return nil, errOver
	}
	if time.Since(l.checkedAt) < checkInterval {
		return nil, nil
	}
	if err := l.checkCost(); err != nil {
		return nil, err
	}
	return l.checkProcesses()
}

// minCostTime is the time after which checkCost knows the cost well enough.
const minCostTime = time.Second

// checkCost returns an error if probes have taken more than Options.CostLimit. It assumes the highest cost of each hit.
func (l *Live) checkCost() error {
	costs, passed := l.opt.Costs.Take(), time.Since(l.from.At)
	if l.opt.CostLimit == 0 || costs == nil || passed < minCostTime {
		return nil
	}
	profile, err := l.session.Profile()
	if err != nil {
		return nil // Reading reports it
	}
	l.updateUsed()
	spent := stats.Probing{CPU: float64(l.used)}
	for i, hits := range profile {
		spent.NS += float64(sumCounts([][]uint64{hits})) * costs.Typical.Max(&l.plan.Events[i])
	}
	if !spent.Beyond(l.opt.CostLimit, passed.Seconds()) {
		return nil
	}
	return fmt.Errorf("probes took about %s of the program's CPU time, more than %s: the run ended after %v (--budget PERCENT sets the limit, and 0 sets none)",
		printable.Share(spent.Share(spent.NS)), printable.Share(l.opt.CostLimit), passed.Round(time.Millisecond))
}

// handle processes an item of the stream, and reports whether Read yields it.
func (l *Live) handle(it *pairing.Item) bool {
	switch it.Kind {
	case pairing.Began:
		return !l.opt.Once || l.once.add(it.Call, l.clock.latest.Wall(it.Call.Start))
	case pairing.Kernel:
		return l.kernel.handle(it.Event, l.stream.Within(it.Event.Time))
	case pairing.Marked:
		return l.intervalEnd != nil
	}
	return it.Kind != pairing.Read
}

// manySites is the number of sites above which reading the counters takes more than a few milliseconds: the time grows
// with the square, to seconds for 50,000 sites.
const manySites = 5000

// mark reads the clocks and, unless they include hits that a filter drops and are many, the counters.
func (l *Live) mark() (tracefs.Mark, error) {
	return l.session.Mark(l.opt.All() || l.opt.Alone && l.plan.Mode != uprobe.Latency || l.plan.Probes() <= manySites)
}

// Mark ends an interval. The stream yields [pairing.Marked] behind the last event of the interval.
func (l *Live) Mark() error {
	l.sampler.update() // reads the counters, too: later readings must be later than it
	now, err := l.mark()
	if err != nil {
		return err
	}
	l.count(now.Hits)
	l.stream.Mark(now.Ticks, func() { l.intervalEnd = &now })
	return nil
}

// Reading returns the counts up to the last Marked item or, once Read has returned [io.EOF], of the whole window.
func (l *Live) Reading() (*Reading, error) {
	switch {
	case l.intervalEnd != nil:
	case l.finished:
		return l.complete(l.last())
	default:
		return nil, nil
	}
	l.updateUsed()
	l.reportOthers()
	r, err := l.complete(l.reading(*l.intervalEnd))
	l.intervalEnd = nil
	return r, errors.Join(err, l.resumeProbes())
}

// removing is shown while probes are removed.
const removing = "removing the probes"

// Stop ends the window while all probes are in place, and then removes them. Hits during the removal do not count,
// because the program gets faster with each removed probe.
func (l *Live) Stop() error {
	defer l.opt.Progress(removing)()
	l.stopped = true
	until, err := l.mark()
	if err == nil {
		if at, ok := l.stream.Ended(); ok {
			until.Ticks, until.At = at, l.clock.latest.Wall(at)
		}
		l.stream.End(until.Ticks)
	} else {
		until.At = time.Now()
	}
	l.until = until
	l.count(until.Hits)
	if t := l.tally; t != nil && t.doubt != nil && !t.said && len(t.unsure) > 0 {
		l.opt.Warn(fmt.Sprintf("%v: the numbers of calls have bounds", t.doubt))
	}
	l.ownCPUAtEnd = OwnCPU()
	l.waited = cmp.Or(l.cpu.Waited(), l.waited) // while the processes live
	l.updateUsed()
	l.opt.Costs.Stop()
	l.sampler.end()
	if !l.once.paused {
		l.reportVanished(sitesAtEnd)
	}
	l.session.Stop()
	return err
}

// finish ends the stream after the last read, which returned err.
func (l *Live) finish(err error) (iter.Seq[*pairing.Item], error) {
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

// setHurry makes the kernel remove probes quickly if on is true (see [tracefs.FS.ExpediteGracePeriods]), and slowly again
// if on is false.
func (l *Live) setHurry(on bool) {
	switch {
	case on && l.endHurry == nil:
		l.endHurry = l.fs.ExpediteGracePeriods()
	case !on && l.endHurry != nil:
		l.endHurry()
		l.endHurry = nil
	}
}

func (l *Live) Close() error {
	defer l.opt.Progress(removing)()
	defer l.setHurry(false)
	// The measurement ends first: with a low limit of open files two removals at once would fail.
	l.opt.Costs.End()
	var err error
	if l.session != nil {
		err = l.session.Close()
	}
	l.plan.Binary.File().Release()
	if events := l.kernel.session; events != nil {
		err = errors.Join(err, events.Close())
	}
	return err
}

// complete adds to a reading the values that only a live source has.
func (l *Live) complete(r *Reading, err error) (*Reading, error) {
	r.Vanished = slices.Sorted(maps.Keys(l.vanished.warned))
	r.Used, r.Waited = l.used, l.waited
	r.OwnCPU = cmp.Or(l.ownCPUAtEnd, OwnCPU()) - l.ownCPU
	r.Budget, r.Written = l.opt.Budget, l.plan.Binary.File().Written()
	if m := l.sampler; m != nil {
		r.Estimates, r.Changes = m.whole(func(i int) uint64 { return r.Counts.Funcs[i].Calls }), m.changes
	}
	l.tally.addDoubt(r, len(l.plan.Funcs))
	var unknown error
	r.Kernel, unknown = l.kernel.audit(r.Counts.KernelUnparsed)
	return r, errors.Join(err, unknown)
}
