package parse

import (
	"context"
	"slices"

	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// Stream is the way from a trace to calls: lines or raw pages, events in order, calls.
type Stream struct {
	processes Processes
	formats   []Format
	lines     prefixes
	src       Source
	pages     pageSource // src again, where pages are read
	raw       *rawMerge  // nil where text is read
	buf       []byte
	splitter  Splitter
	order     order
	pairer    *Pairer
	rec       *Record // to be filled
	name      brokenName
	unparsed  uint64
	lost      uint64
	latest    uint64
	// held are events of processes whose bias is not known yet.
	held map[int][]Event
	// kernel puts kernel events in between; nil if there are none.
	kernel *kernelStream
	marks  []mark // the earliest first
}

// NewStream returns a Stream that reads what a plan has recorded and tells sink. It reads raw
// pages where src has the methods of a tracefs.Session for them and Formats returns any, text
// otherwise.
func NewStream(plan *uprobe.Plan, src Source, processes Processes, sink Sink, opt Options) (*Stream, error) {
	formats := make([]Format, len(plan.Events))
	for i := range plan.Events {
		formats[i] = formatOf(&plan.Events[i])
	}
	lines, err := NewLineParser(formats)
	if err != nil {
		return nil, err
	}
	s := &Stream{
		processes: processes, src: src, formats: formats, lines: prefixes{lines: lines}, rec: new(Record),
		pairer: NewPairer(plan, sink), held: make(map[int][]Event),
	}
	s.pairer.entries, s.pairer.inside, s.pairer.limit = opt.Entries, opt.Inside, opt.Limit
	if err := s.readRaw(); err != nil {
		return nil, err
	}
	if opt.Kernel != nil {
		err = s.with(opt.Kernel, sink)
	}
	return s, err
}

// feed takes the next piece of trace_pipe.
func (s *Stream) feed(chunk []byte) { s.splitter.Feed(chunk, s.line) }

func (s *Stream) line(line []byte) {
	err := s.lines.parse(line, s.rec)
	if err != nil {
		s.unparsed++ // a hit among them is lost: it is not delivered
	}
	if s.rec.Kind != EventRecord {
		s.name.piece(line, err == nil)
	}
	switch s.rec.Kind {
	case EventRecord:
		if s.name.len > 0 {
			s.unparsed -= s.name.end(line, s.rec.Event.TID)
		}
		s.owned(&s.rec.Event)
		s.rec = s.order.add(s.rec, s.inOrder)
	case LostRecord:
		s.lost += s.rec.Lost
	}
}

// owned finds the process of an event.
func (s *Stream) owned(ev *Event) { ev.PID = s.processes.Of(ev.TID, ev.PID) }

// inOrder takes the next hit in order of time.
func (s *Stream) inOrder(ev *Event) {
	if s.kernel != nil {
		s.kernel.merge.hit(ev)
		return
	}
	s.event(ev)
}

func (s *Stream) event(ev *Event) {
	s.pass(ev.Time)
	s.latest = ev.Time
	if !s.processes.Wanted(ev.PID) {
		return
	}
	bias, ok := s.processes.Bias(ev.PID, ev.Addr)
	if !ok {
		cp := *ev
		cp.Args = slices.Clone(ev.Args)
		s.held[ev.PID] = append(s.held[ev.PID], cp)
		return
	}
	s.release(ev.PID, bias)
	s.pairer.Event(ev, bias)
}

// release pairs the events of a process that have waited for its bias.
func (s *Stream) release(pid int, bias uint64) {
	if len(s.held) == 0 {
		return
	}
	waiting, ok := s.held[pid]
	if !ok {
		return
	}
	delete(s.held, pid)
	for i := range waiting {
		s.pairer.Event(&waiting[i], bias)
	}
}

// idle says that there was nothing more to read for a moment.
func (s *Stream) idle() { s.order.flush(s.inOrder) }

// Finish ends the calls that are open.
func (s *Stream) Finish() {
	s.idle()
	if s.raw != nil {
		s.raw.flush(s.rawEvent)
	}
	s.finishKernel()
	s.pass(^uint64(0))
	for pid := range s.held {
		s.release(pid, 0) // nowhere: their addresses are unknown
	}
	if len(s.splitter.Rest()) > 0 {
		s.unparsed++
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

// Unfollowed is the number of calls that were not paired, since too many others were open when
// they began.
func (s *Stream) Unfollowed() uint64 { return s.pairer.account.unfollowed }

// Unparsed is the number of lines, or records, that were not understood, or are of addresses that
// are none of the plan's sites.
func (s *Stream) Unparsed() uint64 {
	n := s.unparsed + uint64(s.splitter.Dropped()) + s.pairer.account.unknown
	if s.raw != nil {
		n += s.raw.unreadable
	}
	return n
}

// Announced is the number of events that the kernel itself has called lost.
func (s *Stream) Announced() uint64 {
	if s.raw != nil {
		return s.lost + s.raw.lost
	}
	return s.lost
}

// Read takes what the source has for the moment: n is 0 if that was nothing. Errors are the
// source's.
func (s *Stream) Read(ctx context.Context) (n int, err error) {
	if s.raw != nil {
		n, err = s.readPages(ctx)
	} else {
		n, err = s.readText(ctx)
	}
	if s.kernel != nil && err == nil {
		err = s.readKernel(n == 0)
	}
	if n == 0 && err == nil && s.settled() {
		s.pass(^uint64(0)) // nothing of before now is left to be read
	}
	return n, err
}

func (s *Stream) readText(ctx context.Context) (n int, err error) {
	if s.buf == nil {
		s.buf = make([]byte, 64<<10)
	}
	n, err = s.src.Read(ctx, s.buf)
	s.feed(s.buf[:n])
	if n == 0 {
		s.idle()
	}
	return n, err
}
