package parse

import (
	"context"
	"slices"

	"github.com/ftgo/ftgo/internal/ftrace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Stream is the way from a trace to calls: events in order, calls.
type Stream struct {
	processes Processes
	reader    *ftrace.Reader
	pairer    *pairer
	latest    uint64
	// pending are events of processes whose bias is not known yet.
	pending map[int][]ftrace.Event
	marks   []mark // the earliest first
	// names are those of kernel events, event is the one at hand.
	names []string
	event KernelEvent
}

// NewStream returns a Stream that reads what a plan has recorded and tells sink.
func NewStream(plan *uprobe.Plan, src Source, processes Processes, sink Sink, opt Options) (*Stream, error) {
	s := &Stream{processes: processes, pairer: newPairer(plan, sink), pending: make(map[int][]ftrace.Event)}
	s.pairer.entries, s.pairer.inside, s.pairer.limit = opt.Entries, opt.Inside, opt.Limit
	if opt.Kernel != nil {
		s.names, s.pairer.threads = opt.Kernel.Names(), make(map[threadKey]*thread)
	}
	var err error
	s.reader, err = ftrace.NewReader(plan.Events, src, opt.Kernel, events{s})
	return s, err
}

// events are a Stream as it takes them.
type events struct{ *Stream }

func (s events) Process(tid, printed int) int { return s.processes.Of(tid, printed) }

func (s events) Hit(ev *ftrace.Event) {
	if len(s.marks) > 0 {
		s.pass(ev.Time)
	}
	s.latest = ev.Time
	var wanted bool
	if ev.PID, wanted = s.processes.Wanted(ev.TID, ev.PID); !wanted {
		return
	}
	bias, ok := s.processes.Bias(ev.PID, ev.Addr)
	if !ok {
		cp := *ev
		cp.Args = slices.Clone(ev.Args)
		s.pending[ev.PID] = append(s.pending[ev.PID], cp)
		return
	}
	if len(s.pending) > 0 {
		s.release(ev.PID, bias)
	}
	s.pairer.event(ev, bias)
}

func (s events) Kernel(ev *ftrace.KernelEvent) {
	if s.pairer.sched != nil {
		s.pairer.sched.kernel(s.names[ev.Event], ev)
	}
	s.event = KernelEvent{*ev, s.pairer.where(ev.PID, ev.TID)}
	s.pairer.sink.Kernel(&s.event)
}

// release pairs the events of a process that have waited for its bias.
func (s *Stream) release(pid int, bias uint64) {
	waiting := s.pending[pid]
	delete(s.pending, pid)
	for i := range waiting {
		s.pairer.event(&waiting[i], bias)
	}
}

// Read takes what the source has for the moment: n is 0 if that was nothing. Errors are the
// source's.
func (s *Stream) Read(ctx context.Context) (n int, err error) {
	if n, err = s.reader.Read(ctx); n == 0 && err == nil && s.reader.Settled() {
		s.pass(^uint64(0)) // nothing of before now is left to be read
	}
	return n, err
}

// Extend takes note of events that have joined the plan. It comes before they are armed.
func (s *Stream) Extend() error {
	s.pairer.extend()
	return s.reader.Extend(s.pairer.plan.Events)
}

// Finish ends the calls that are open.
func (s *Stream) Finish() {
	s.reader.Finish()
	s.pass(^uint64(0))
	for pid := range s.pending {
		s.release(pid, 0) // nowhere: their addresses are unknown
	}
	s.pairer.Finish()
}

// Processes are those that wanted events have come from and that were not forgotten since.
func (s *Stream) Processes() []int { return s.pairer.Processes() }

// Forget drops what is known of processes that have ended, all of whose events have been
// read: another may get the number. Their calls that are open end so.
func (s *Stream) Forget(ended map[int]bool) {
	for pid := range ended {
		s.release(pid, 0) // nowhere, as in Finish
	}
	s.pairer.Forget(ended)
}

// Latest is the time of the last event that has come, in the units of the trace clock; 0
// before the first.
func (s *Stream) Latest() uint64 { return s.latest }

// unparsed is the number of lines, or records, that were not understood, or are of addresses that
// are none of the plan's sites.
func (s *Stream) unparsed() uint64 { return s.reader.Unparsed() + s.pairer.account.unknown }
