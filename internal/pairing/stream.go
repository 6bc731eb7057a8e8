// Package pairing turns the events of probes into calls: it pairs each hit where a call begins with the hit where it
// ends. It also splits the time of calls by the state of their goroutine, and accounts for lost and filtered hits.
// Package parse reads the events in order of time.
package pairing

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Stream reads a trace and emits its calls as [Item] values.
//
// A call is identified by its process, its goroutine and its depth: the distance between the end of the goroutine's
// stack and SP at entry. The depth stays the same when the runtime moves the stack. Three rules end calls:
//
//   - a return at depth d ends the call of its function that was entered at d;
//   - any event at depth d proves that all calls entered deeper have ended;
//   - an entry at depth d proves that a call entered at d has ended, too.
//
// The Outcome of calls that end by the second or third rule is Unwound.
type Stream struct {
	plan   *uprobe.Plan
	opt    Options
	reader *parse.Reader
	latest uint64 // time of the last event
	// The window: events with from <= time <= until, and events before first (see Begin). Other events are ignored.
	first, from, until uint64
	marks              []mark   // the earliest first
	names              []string // of kernel events
	yield              func(*Item) bool
	item               Item             // the item that yield gets
	kernel             KernelEvent      // the item's Event
	known              map[int]*process // the processes that have sent events, by PID
	proc               *process         // the process of the current event
	open, maxOpen      int              // number of open calls, and its limit
	begun, done        uint64           // the last ID of a call, and the number of calls for Options.Limit
	account            accounting
	pairs              *pairs           // nil unless the plan is of a pair
	sites              []map[uint64]int // the index of each site of an event, by address in the file
	recent             []int            // the site of the latest hit of an event, from which the next hit often comes
	spare              [][]uint64       // unused memory for the fetched words of calls
	// The current event: the load bias of its process, its site, the number of its words with values, the faults in fetching
	// them, and the sums of its goroutine or thread.
	loadBias uint64
	site     *uprobe.Site
	words    int
	faults   uint64
	sums     Split
	sched    scheduler
	// The gaps of the events that time a function's calls, and of its Counter events. The last is of the runtime probes.
	retired, uncounted [][]gap
}

// NewStream returns a Stream of a plan's calls.
func NewStream(plan *uprobe.Plan, src parse.Source, opt Options) (p *Stream, err error) {
	p = newStream(plan)
	p.opt = opt
	if opt.Kernel != nil {
		p.names = opt.Kernel.Names()
	}
	p.reader, err = parse.NewReader(uprobe.Formats(plan.Events), src, opt.Kernel)
	return p, err
}

// newStream returns a Stream without a reader.
func newStream(plan *uprobe.Plan) *Stream {
	p := &Stream{
		plan: plan, yield: discard, maxOpen: maxOpen, until: ^uint64(0),
		known: make(map[int]*process), proc: noProcess,
		sched:   make(scheduler),
		retired: make([][]gap, len(plan.Funcs)+1), uncounted: make([][]gap, len(plan.Funcs)+1),
	}
	p.extend()
	p.account.funcs = make([]Count, len(plan.Funcs))
	if plan.To != nil {
		p.pairs = newPairs()
	}
	return p
}

// take handles the next event from the reader.
func (p *Stream) take(ev *parse.Event) {
	if ev.Kernel {
		p.takeKernel(ev)
		return
	}
	if len(p.marks) > 0 {
		p.passMarks(ev.Time)
	}
	p.latest = ev.Time
	if p.opt.Of != nil {
		var selected bool
		if ev.PID, selected = p.opt.Of(ev.TID, ev.PID); !selected {
			return
		}
	}
	var bias uint64
	if p.plan.Relocatable {
		proc := p.process(ev.PID)
		var ok bool
		if bias, ok = p.bias(proc, ev); !ok {
			cp := *ev
			cp.Args = slices.Clone(ev.Args)
			proc.latest = ev.Time
			if proc.pending = append(proc.pending, cp); len(proc.pending) == maxPending {
				p.release(proc, 0)
			}
			return
		}
		p.release(proc, bias)
	}
	p.event(ev, bias)
}

// takeKernel handles a kernel event.
func (p *Stream) takeKernel(ev *parse.Event) {
	ev.PID = p.opt.Kernel.Process(ev.TID, 0)
	if p.plan.Sched {
		w := p.sched.kernel(p.names[ev.Format], ev)
		w.reason = p.plan.SyscallReason()
		p.endWait(w)
	}
	p.kernel = KernelEvent{Event: *ev}
	p.kernel.setThread(p.sched[ev.TID])
	p.item.Event = &p.kernel
	p.emit(Kernel)
}

// maxPending is the maximum number of events of a process that wait for its bias. Usually the second address decides
// the bias.
const maxPending = 1000

// release handles the pending events of a process. If the bias is still unknown, the caller passes 0. Then the addresses
// have no sites, and the events count as unparsed.
func (p *Stream) release(proc *process, bias uint64) {
	waiting := proc.pending
	proc.pending = nil
	for i := range waiting {
		p.event(&waiting[i], bias)
	}
}

// Read reads the present content of the source. It yields items, the last of Kind Read, and then the source's error.
func (p *Stream) Read(ctx context.Context) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		var err error
		for it := range p.items(func() {
			p.item.N, err = p.reader.Read(ctx, p.take)
			if p.item.N == 0 && err == nil && p.reader.Settled() {
				p.passMarks(^uint64(0)) // all events before now were read
			}
			p.emit(Read)
		}) {
			if !yield(it, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Extend adds the events that the plan has got since. It must run before they are armed.
func (p *Stream) Extend() error {
	p.extend()
	return p.reader.Extend(uprobe.Formats(p.plan.Events))
}

// Finish handles the remaining events and ends the open calls.
func (p *Stream) Finish() iter.Seq[*Item] {
	return p.items(func() {
		p.reader.Finish(p.take)
		p.passMarks(^uint64(0))
		for _, proc := range p.known {
			p.release(proc, 0)
		}
		p.leaveOpen(func(int) bool { return true })
	})
}

// Processes returns the PIDs of the selected processes that have sent events and were not forgotten.
func (p *Stream) Processes() []int { return slices.Collect(maps.Keys(p.known)) }

// Stalest returns Processes without the n processes with the latest events.
func (p *Stream) Stalest(n int) []int {
	pids := p.Processes()
	slices.SortFunc(pids, func(a, b int) int { return cmp.Compare(p.known[a].latest, p.known[b].latest) })
	return pids[:max(len(pids)-n, 0)]
}

// Forget drops the state of processes that have ended, after all their events were read, because other processes may
// get their PIDs. It emits open calls with Outcome Open, or Unwound if their goroutine has ended.
func (p *Stream) Forget(ended map[int]bool) iter.Seq[*Item] {
	return p.items(func() {
		for pid := range ended {
			p.release(p.process(pid), 0)
		}
		p.forget(ended)
		for pid := range ended {
			p.item.PID = pid
			p.emit(Forgotten)
		}
	})
}

// Latest returns the time of the last event by the trace clock, 0 before the first.
func (p *Stream) Latest() uint64 { return p.latest }

// Options are options of a [Stream].
type Options struct {
	// Of returns the process of a thread, and whether its events are selected. printed is the PID in the trace line, or
	// 0 if the kernel does not know it (see tracefs.Session.Process). The Stream calls Of in the order of events. If Of
	// is nil, printed is the process, and all processes are selected.
	Of func(tid, printed int) (pid int, selected bool)
	// Mappings reads the mappings of a process, to find its load bias. It is nil for a recording.
	Mappings func(pid int) ([]procfs.Mapping, error)
	Entries  bool // calls are also emitted when they begin
	// Limit is the number of calls after which the window ends: with the event that ends the last of them or, if the
	// calls of its function are only counted, with the event that begins it. 0 is no limit.
	Limit  uint64
	Kernel KernelSource // nil for none
	// Key appends the values in which the two ends of a call of a pair agree to buf: those of Results if it is not nil,
	// else those of Args. ok is false if they are not known. Keep, if not nil, reports whether a call of a pair that has
	// ended counts.
	Key  func(c *Call, buf []byte) (key []byte, ok bool)
	Keep func(*Call) bool
}

// KernelSource is a source of the kernel's own events: a tracefs.Session.
type KernelSource interface {
	parse.Pages                   // must not block
	Names() []string              // of the events
	Process(tid, printed int) int // the process of a thread; printed is 0
}

// mark holds the arguments of a call of [Stream.Mark].
type mark struct {
	at      uint64
	reached func()
}

// Begin begins the window at from. Events before first are in the window, too: no event is that old, unless the clock
// was reset, which may happen when the machine wakes up.
func (p *Stream) Begin(first, from uint64) {
	p.first, p.from = first, from
}

// End ends the window at a time of the trace clock. Calls that are open then stay open. A window that has ended earlier
// because of [Options].Limit stays as it is.
func (p *Stream) End(until uint64) { p.until = min(p.until, until) }

// Ended returns the time of the event that reached [Options].Limit. ok is false if the limit was not reached.
func (p *Stream) Ended() (at uint64, ok bool) {
	return p.until, p.limitReached()
}

// Within reports whether a time is in the window.
func (p *Stream) Within(time uint64) bool {
	return time <= p.until && (time >= p.from || time < p.first)
}

// Mark calls reached, and emits an item of Kind Marked, between the events up to a time and the events after it. The
// time must be the present, by the trace clock.
func (p *Stream) Mark(at uint64, reached func()) {
	p.marks = append(p.marks, mark{at, reached})
}

// passMarks handles the marks before a time.
func (p *Stream) passMarks(time uint64) {
	for len(p.marks) > 0 && p.marks[0].at < time {
		reached := p.marks[0].reached
		p.marks = p.marks[1:]
		reached()
		p.emit(Marked)
	}
}

func (p *Stream) limitReached() bool { return p.opt.Limit > 0 && p.done >= p.opt.Limit }

// countDone counts a call for Options.Limit: when it ends or, if it is only counted, when it begins.
func (p *Stream) countDone(at uint64) {
	if p.done++; p.limitReached() {
		p.until = min(p.until, at)
	}
}
