// Package pairing makes calls of events: it pairs those where calls begin with those where they
// end, splits their time by what the scheduler did, and counts what became of every hit. Events
// come from lines or raw pages of the kernel, which package ftrace reads in order of time.
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

// Stream is the way from a trace to calls: events in order, calls.
type Stream struct {
	processes Processes
	reader    *parse.Reader
	pairer    *pairer
	latest    uint64
	// pending are events of processes whose bias is not known yet.
	pending map[int][]parse.Event
	marks   []mark // the earliest first
	// names are those of kernel events, event is the one at hand.
	names []string
	event KernelEvent
}

// NewStream returns a Stream that reads what a plan has recorded.
func NewStream(plan *uprobe.Plan, src Source, processes Processes, opt Options) (*Stream, error) {
	s := &Stream{processes: processes, pairer: newPairer(plan), pending: make(map[int][]parse.Event)}
	s.pairer.opt = opt
	if opt.Kernel != nil {
		s.names = opt.Kernel.Names()
	}
	var err error
	s.reader, err = parse.NewReader(uprobe.Formats(plan.Events), src, opt.Kernel)
	return s, err
}

// take takes the next event.
func (s *Stream) take(ev *parse.Event) {
	if ev.Kernel {
		s.takeKernel(ev)
		return
	}
	ev.PID = s.processes.Of(ev.TID, ev.PID)
	if len(s.marks) > 0 {
		s.pass(ev.Time)
	}
	s.latest = ev.Time
	var wanted bool
	if ev.PID, wanted = s.processes.Wanted(ev.TID, ev.PID); !wanted {
		return
	}
	var bias uint64
	if s.pairer.plan.Relocatable {
		var ok bool
		if bias, ok = s.processes.Bias(ev.PID, ev.Addr); !ok {
			cp := *ev
			cp.Args = slices.Clone(ev.Args)
			if s.pending[ev.PID] = append(s.pending[ev.PID], cp); len(s.pending[ev.PID]) == maxPending {
				s.release(ev.PID, 0) // nowhere, as in Finish: unparsed
			}
			return
		}
	}
	if len(s.pending) > 0 {
		s.release(ev.PID, bias)
	}
	s.pairer.event(ev, bias)
}

func (s *Stream) takeKernel(ev *parse.Event) {
	ev.PID = s.pairer.opt.Kernel.Process(ev.TID, 0)
	if s.pairer.sched != nil {
		w := s.pairer.sched.kernel(s.names[ev.Format], ev)
		w.reason = s.pairer.plan.InKernel()
		s.pairer.waited(w)
	}
	s.event = KernelEvent{*ev, s.pairer.whereIs(ev.PID, ev.TID)}
	s.pairer.item.Event = &s.event
	s.pairer.tell(Kernel)
}

// maxPending is how many events of a process wait for its bias, which one more address tells as a rule.
const maxPending = 1000

// release pairs the events of a process that have waited for its bias.
func (s *Stream) release(pid int, bias uint64) {
	waiting := s.pending[pid]
	delete(s.pending, pid)
	for i := range waiting {
		s.pairer.event(&waiting[i], bias)
	}
}

// Read takes what the source has for the moment, and says at last how much that was. Errors are the source's, and come last.
func (s *Stream) Read(ctx context.Context) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		goesOn := true
		defer s.pairer.to(s.pairer.yield)
		s.pairer.to(func(it *Item) bool {
			goesOn = yield(it, nil)
			return goesOn
		})
		n, err := s.reader.Read(ctx, s.take)
		if n == 0 && err == nil && s.reader.Settled() {
			s.pass(^uint64(0)) // nothing of before now is left to be read
		}
		s.pairer.item.N = n
		if s.pairer.tell(Read); err != nil && goesOn {
			yield(nil, err)
		}
	}
}

// Extend takes note of events that have joined the plan. It comes before they are armed.
func (s *Stream) Extend() error {
	s.pairer.extend()
	return s.reader.Extend(uprobe.Formats(s.pairer.plan.Events))
}

// Finish ends the calls that are open.
func (s *Stream) Finish() Items {
	return s.pairer.items(func() {
		s.reader.Finish(s.take)
		s.pass(^uint64(0))
		for pid := range s.pending {
			s.release(pid, 0) // nowhere: their addresses are unknown
		}
		s.pairer.finish()
	})
}

// Processes are those that wanted events have come from and that were not forgotten since.
func (s *Stream) Processes() []int {
	pids := slices.Collect(maps.Keys(s.pairer.processes))
	for pid := range s.pending {
		if s.pairer.processes[pid] == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Stalest are all processes but for so many that events have come from last.
func (s *Stream) Stalest(but int) []int {
	pids := s.Processes()
	latest := func(pid int) uint64 {
		if of := s.pairer.processes[pid]; of != nil {
			return of.latest
		}
		return s.pending[pid][0].Time
	}
	slices.SortFunc(pids, func(a, b int) int { return cmp.Compare(latest(a), latest(b)) })
	return pids[:max(len(pids)-but, 0)]
}

// Forget drops what is known of processes that have ended, all of whose events have been
// read: another may get the number. Their calls that are open end so.
func (s *Stream) Forget(ended map[int]bool) Items {
	return s.pairer.items(func() {
		for pid := range ended {
			s.release(pid, 0) // nowhere, as in Finish
		}
		s.pairer.forget(ended)
		for pid := range ended {
			s.pairer.item.PID = pid
			s.pairer.tell(Gone)
		}
	})
}

// Latest is the time of the last event that has come, in the units of the trace clock; 0
// before the first.
func (s *Stream) Latest() uint64 { return s.latest }

// unparsed is the number of lines, or records, that were not understood, or are of addresses that
// are none of the plan's sites.
func (s *Stream) unparsed() uint64 {
	hits, _ := s.reader.Unparsed()
	return hits + s.pairer.account.unknown
}

// Faults are those of what was read so far.
func (s *Stream) Faults() *Faults { return &s.pairer.account.faults }

// Source is where a trace comes from: a tracefs.Session, or a recording.
type Source = parse.Source

// Processes is what a [Stream] asks about the processes that events come from.
type Processes interface {
	// Of finds the process of a thread, of which the line names what the kernel remembers,
	// or 0: see tracefs.Session.Process.
	Of(tid, printed int) int
	// Wanted tells whether events of a thread are wanted, and, in the order of time, which
	// process it is of; Of has found pid.
	Wanted(tid, pid int) (process int, wanted bool)
	// Bias finds the distance between addresses in a process and in the file, or says that it
	// takes more addresses to tell. It is not asked for programs that are not position-independent.
	Bias(pid int, addr uint64) (bias uint64, ok bool)
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

// window is the stretch of time whose events are paired, its ends included, in the units
// of the trace clock. What was recorded outside of it is counted in accounting.outside alone.
type window struct{ first, from, until uint64 }

func (w *window) has(time uint64) bool {
	return time <= w.until && (time >= w.from || time < w.first)
}

// mark is a moment among the events, and what is to be done when it has come.
type mark struct {
	at      uint64
	reached func()
}

// Begin leaves out the events of before a time of the trace clock. None is older than
// first, unless the clock has begun anew, as it may when a machine wakes up: those are in.
func (s *Stream) Begin(first, from uint64) {
	s.pairer.window.first, s.pairer.window.from = first, from
}

// End leaves out the events of after a time of the trace clock. Calls that are open then
// stay open. A stream that has ended by itself, see [Options].Limit, has ended earlier.
func (s *Stream) End(until uint64) { s.pairer.window.until = min(s.pairer.window.until, until) }

// Ended is the time of the event that ended the stream by itself.
func (s *Stream) Ended() (at uint64, ok bool) {
	return s.pairer.window.until, s.pairer.full()
}

// Within tells whether a time is within the stream's window.
func (s *Stream) Within(time uint64) bool { return s.pairer.window.has(time) }

// Mark is told, with what is to be done then, when all events of until a time of the trace clock, which is
// now, have been paired, and none of later.
func (s *Stream) Mark(at uint64, reached func()) {
	s.marks = append(s.marks, mark{at, reached})
}

// pass tells the marks of before a time.
func (s *Stream) pass(time uint64) {
	for len(s.marks) > 0 && s.marks[0].at < time {
		reached := s.marks[0].reached
		s.marks = s.marks[1:]
		s.pairer.item.Reached = reached
		s.pairer.tell(Marked)
	}
}

// full tells whether as many calls have ended as are wanted.
func (p *pairer) full() bool { return p.opt.Limit > 0 && p.done >= p.opt.Limit }

// finished counts a call that has ended, or of which no more than its begin is seen.
func (p *pairer) finished(at uint64) {
	if p.done++; p.full() {
		p.window.until = min(p.window.until, at)
	}
}
