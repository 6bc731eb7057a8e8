// Package pairing makes calls of events: it pairs those where calls begin with those where they
// end, splits their time by what the scheduler did, and counts what became of every hit. Events
// come from lines or raw pages of the kernel, which package parse reads in order of time.
package pairing

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Stream is the way from a trace to calls.
//
// A call belongs to a goroutine of a process and to a depth of its stack: the
// distance between the stack's end and SP at entry, which stays the same when the
// runtime copies the stack elsewhere. Three rules close every frame:
//
//   - a return at depth d ends the call of its function that was entered at d;
//   - anything at depth d proves that all calls entered deeper are gone;
//   - an entry at depth d proves that a call entered at d is gone, too.
//
// Calls that go without a return were unwound.
type Stream struct {
	plan      *uprobe.Plan
	opt       Options
	processes Processes
	reader    *parse.Reader
	latest    uint64
	// Events of from one time until another are paired, both included, and of before first: see Begin. What was
	// recorded outside of this window counts for nothing.
	first, from, until uint64

	marks []mark   // the earliest first
	names []string // of kernel events
	// yield takes what is told next, which is item again and again; false is that no more is wanted.
	yield  func(*Item) bool
	item   Item
	kernel KernelEvent // of the item, likewise
	// known are the processes that events have come from, by PID; proc is that of the last one. pending are
	// events of processes whose bias is not known yet.
	known   map[int]*process
	proc    *process
	pending map[int][]parse.Event
	// open is the number of calls that are open, at most maxOpen; begun and done are those that have begun and ended.
	open, maxOpen int
	begun, done   uint64
	account       accounting
	sites         siteIndex
	spare         [][]uint64 // memory of words that calls have fetched
	// Of the event at hand: the process's bias, the site, the number of words of values and of faults of fetching
	// them, and the sums of the stack that it is on.
	bias   uint64
	site   *uprobe.Site
	words  int
	faults uint64
	at     Split
	sched  scheduler
	// retired are functions that were timed once, and are not any more, uncounted those whose Counters are disarmed,
	// or were.
	retired, uncounted map[int]retirements
}

// NewStream returns a Stream that reads what a plan has recorded.
func NewStream(plan *uprobe.Plan, src Source, processes Processes, opt Options) (p *Stream, err error) {
	p = newStream(plan)
	p.processes, p.opt = processes, opt
	if opt.Kernel != nil {
		p.names = opt.Kernel.Names()
	}
	p.reader, err = parse.NewReader(uprobe.Formats(plan.Events), src, opt.Kernel)
	return p, err
}

// newStream returns one that reads nothing.
func newStream(plan *uprobe.Plan) *Stream {
	p := &Stream{
		plan: plan, yield: ignore, maxOpen: maxOpen, until: ^uint64(0),
		known: make(map[int]*process), proc: nowhere, pending: make(map[int][]parse.Event),
		sites: siteIndex{sites: make(map[eventAddr]int)}, sched: make(scheduler), retired: make(map[int]retirements), uncounted: make(map[int]retirements),
	}
	p.extend()
	p.account.funcs = make([]funcAccount, len(plan.Funcs))
	return p
}

// take takes the next event.
func (p *Stream) take(ev *parse.Event) {
	if ev.Kernel {
		p.takeKernel(ev)
		return
	}
	if len(p.marks) > 0 {
		p.pass(ev.Time)
	}
	p.latest = ev.Time
	var wanted bool
	if ev.PID, wanted = p.processes.Of(ev.TID, ev.PID); !wanted {
		return
	}
	var bias uint64
	if p.plan.Relocatable {
		var ok bool
		if bias, ok = p.processes.Bias(ev.PID, ev.Addr); !ok {
			cp := *ev
			cp.Args = slices.Clone(ev.Args)
			if p.pending[ev.PID] = append(p.pending[ev.PID], cp); len(p.pending[ev.PID]) == maxPending {
				p.release(ev.PID, 0) // nowhere, as in Finish: unparsed
			}
			return
		}
	}
	if len(p.pending) > 0 {
		p.release(ev.PID, bias)
	}
	p.event(ev, bias)
}

func (p *Stream) takeKernel(ev *parse.Event) {
	ev.PID = p.opt.Kernel.Process(ev.TID, 0)
	if p.plan.Sched {
		w := p.sched.kernel(p.names[ev.Format], ev)
		w.reason = p.plan.InKernel()
		p.waited(w)
	}
	p.kernel = KernelEvent{Event: *ev}
	p.kernel.where(p.sched[ev.TID])
	p.item.Event = &p.kernel
	p.tell(Kernel)
}

// maxPending is how many events of a process wait for its bias, which one more address tells as a rule.
const maxPending = 1000

// release pairs the events of a process that have waited for its bias.
func (p *Stream) release(pid int, bias uint64) {
	waiting := p.pending[pid]
	delete(p.pending, pid)
	for i := range waiting {
		p.event(&waiting[i], bias)
	}
}

// Read takes what the source has for the moment, and says at last how much that was. Errors are the source's, and come last.
func (p *Stream) Read(ctx context.Context) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		var err error
		goesOn := true
		told := p.items(func() {
			p.item.N, err = p.reader.Read(ctx, p.take)
			if p.item.N == 0 && err == nil && p.reader.Settled() {
				p.pass(^uint64(0)) // nothing of before now is left to be read
			}
			p.tell(Read)
		})
		told(func(it *Item) bool {
			goesOn = yield(it, nil)
			return goesOn
		})
		if err != nil && goesOn {
			yield(nil, err)
		}
	}
}

// Extend takes note of events that have joined the plan. It comes before they are armed.
func (p *Stream) Extend() error {
	p.extend()
	return p.reader.Extend(uprobe.Formats(p.plan.Events))
}

// Finish ends the calls that are open.
func (p *Stream) Finish() Items {
	return p.items(func() {
		p.reader.Finish(p.take)
		p.pass(^uint64(0))
		for pid := range p.pending {
			p.release(pid, 0) // nowhere: their addresses are unknown
		}
		p.finish()
	})
}

// Processes are those that wanted events have come from and that were not forgotten since.
func (p *Stream) Processes() []int {
	pids := slices.Collect(maps.Keys(p.known))
	for pid := range p.pending {
		if p.known[pid] == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Stalest are all processes but for so many that events have come from last.
func (p *Stream) Stalest(but int) []int {
	pids := p.Processes()
	latest := func(pid int) uint64 {
		if of := p.known[pid]; of != nil {
			return of.latest
		}
		return p.pending[pid][0].Time
	}
	slices.SortFunc(pids, func(a, b int) int { return cmp.Compare(latest(a), latest(b)) })
	return pids[:max(len(pids)-but, 0)]
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: another may get the number. Their calls that are open end so.
func (p *Stream) Forget(ended map[int]bool) Items {
	return p.items(func() {
		for pid := range ended {
			p.release(pid, 0) // nowhere, as in Finish
		}
		p.forget(ended)
		for pid := range ended {
			p.item.PID = pid
			p.tell(Gone)
		}
	})
}

// Latest is the time of the last event that has come, in the units of the trace clock; 0
// before the first.
func (p *Stream) Latest() uint64 { return p.latest }

// unparsed is the number of lines, or records, that were not understood, or are of addresses that
// are none of the plan's sites.
func (p *Stream) unparsed() uint64 {
	hits, _ := p.reader.Unparsed()
	return hits + p.account.unknown
}

// Source is where a trace comes from: a tracefs.Session, or a recording.
type Source = parse.Source

// Processes is what a [Stream] asks about the processes that events come from.
type Processes struct {
	// Of finds the process of a thread, of which the line names what the kernel remembers, or 0 (see
	// tracefs.Session.Process), and tells whether its events are wanted. It is asked in the order of time.
	Of func(tid, printed int) (pid int, wanted bool)
	// Bias finds the distance between addresses in a process and in the file, or says that it
	// takes more addresses to tell. It is not asked for programs that are not position-independent.
	Bias func(pid int, addr uint64) (bias uint64, ok bool)
}

// Selected is a [Processes].Of that wants all processes, or, unless there are none, some, of those that find finds.
func Selected(find func(tid, printed int) int, pids ...int) func(tid, printed int) (pid int, wanted bool) {
	return func(tid, printed int) (pid int, wanted bool) {
		pid = find(tid, printed)
		return pid, len(pids) == 0 || slices.Contains(pids, pid)
	}
}

// Options are what else a [Stream] is to do.
type Options struct {
	// Entries: calls that begin are told whole.
	Entries bool
	// Inside names functions, by their index in Plan.Funcs: what is called while they are open
	// is marked.
	Inside map[int]bool
	// Limit ends the stream by itself with the event that ends the n-th call, or begins it if it
	// is of a function whose calls are only counted. 0 is no limit.
	Limit uint64
	// Kernel adds the kernel's own events; nil is none.
	Kernel KernelSource
}

// KernelSource is where events of the kernel itself come from: a tracefs.Session.
type KernelSource interface {
	parse.Pages // which never waits
	// Names are the events.
	Names() []string
	// Process returns the process of a thread: printed is 0.
	Process(tid, printed int) int
}

// mark is a moment among the events, and what is to be done when it has come.
type mark struct {
	at      uint64
	reached func()
}

// Begin leaves out the events of before a time of the trace clock. None is older than
// first, unless the clock has begun anew, as it may when a machine wakes up: those are in.
func (p *Stream) Begin(first, from uint64) {
	p.first, p.from = first, from
}

// End leaves out the events of after a time of the trace clock. Calls that are open then
// stay open. A stream that has ended by itself, see [Options].Limit, has ended earlier.
func (p *Stream) End(until uint64) { p.until = min(p.until, until) }

// Ended is the time of the event that ended the stream by itself.
func (p *Stream) Ended() (at uint64, ok bool) {
	return p.until, p.full()
}

// Within tells whether a time is within the stream's window.
func (p *Stream) Within(time uint64) bool {
	return time <= p.until && (time >= p.from || time < p.first)
}

// Mark is told, with what is to be done then, when all events of until a time of the trace clock, which is
// now, have been paired, and none of later.
func (p *Stream) Mark(at uint64, reached func()) {
	p.marks = append(p.marks, mark{at, reached})
}

// pass tells the marks of before a time.
func (p *Stream) pass(time uint64) {
	for len(p.marks) > 0 && p.marks[0].at < time {
		reached := p.marks[0].reached
		p.marks = p.marks[1:]
		reached()
		p.tell(Marked)
	}
}

// full tells whether as many calls have ended as are wanted.
func (p *Stream) full() bool { return p.opt.Limit > 0 && p.done >= p.opt.Limit }

// finished counts a call that has ended, or of which no more than its begin is seen.
func (p *Stream) finished(at uint64) {
	if p.done++; p.full() {
		p.until = min(p.until, at)
	}
}
