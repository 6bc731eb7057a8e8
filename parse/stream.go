package parse

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// Stream is the way from a trace to calls: lines or raw pages, events in order, calls.
type Stream struct {
	// Bias finds the distance between addresses in a process and in the file, or
	// says that it takes more addresses to tell. It matters for position-independent
	// programs; nil is a distance of 0.
	Bias func(pid int, addr uint64) (bias uint64, ok bool)
	// Process finds the process of a thread, of which the line names what the kernel
	// remembers, or 0: see tracefs.Session.Process. nil believes the line.
	Process func(tid, printed int) int
	// Keep tells whether events of a process are wanted; nil wants all.
	Keep func(pid int) bool

	formats  []Format
	lines    prefixes
	src      Source
	pages    pageSource // src again, where pages are read
	raw      *rawMerge  // nil where text is read
	buf      []byte
	splitter Splitter
	order    order
	pairer   *Pairer
	rec      *Record // to be filled
	name     brokenName
	unparsed uint64
	lost     uint64
	foreign  uint64
	latest   uint64
	// held are events of processes whose bias is not known yet.
	held map[int][]Event
	// kernel puts kernel events in between; nil if there are none.
	kernel *kernelStream
	marks  []mark // the earliest first
}

// Entered is told of calls when they begin, in the order in which they do on their
// goroutine: their End and Outcome mean nothing yet.
func (s *Stream) Entered(emit func(*Call)) { s.pairer.entered = emit }

// Begun is told of the process and the function of each call when it begins, those that
// are only counted, too.
func (s *Stream) Begun(tell func(pid, fn int)) { s.pairer.begun = tell }

// Inside names functions, by their index in Plan.Funcs: what is called while they are
// open is marked.
func (s *Stream) Inside(funcs map[int]bool) { s.pairer.inside = funcs }

// NewStream returns a Stream for the text of a session that runs a plan.
func NewStream(plan *uprobe.Plan, emit func(*Call)) (*Stream, error) {
	formats := make([]Format, len(plan.Events))
	for i := range plan.Events {
		formats[i] = formatOf(&plan.Events[i])
	}
	lines, err := NewLineParser(formats)
	if err != nil {
		return nil, err
	}
	return &Stream{rec: new(Record), formats: formats, lines: prefixes{lines: lines}, pairer: NewPairer(plan, emit), held: make(map[int][]Event)}, nil
}

// Feed takes the next piece of trace_pipe.
func (s *Stream) Feed(chunk []byte) { s.splitter.Feed(chunk, s.line) }

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
func (s *Stream) owned(ev *Event) {
	if s.Process != nil {
		ev.PID = s.Process(ev.TID, ev.PID)
	}
}

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
	if s.Keep != nil && !s.Keep(ev.PID) {
		s.foreign++
		return
	}
	if s.Bias == nil {
		s.pairer.Event(ev, 0)
		return
	}
	bias, ok := s.Bias(ev.PID, ev.Addr)
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

// Idle says that there was nothing more to read for a moment.
func (s *Stream) Idle() { s.order.flush(s.inOrder) }

// Finish ends the calls that are open.
func (s *Stream) Finish() {
	s.Idle()
	if s.raw != nil {
		s.raw.flush(s.rawEvent)
	}
	s.finishKernel()
	s.pass(^uint64(0))
	for pid := range s.held {
		s.release(pid, 0) // nowhere: they are counted as unplaced
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

// Books are the sums of what has been paired so far.
func (s *Stream) Books() *Books { return s.pairer.Books() }

// Unparsed is the number of lines, or records, that were not understood.
func (s *Stream) Unparsed() uint64 {
	n := s.unparsed + uint64(s.splitter.Dropped())
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

// Foreign is the number of events of processes that were not wanted.
func (s *Stream) Foreign() uint64 { return s.foreign }

// Source is where a trace comes from: a tracefs.Session. If it has the Session's
// Process, that tells the processes of threads; if it has its Formats and ReadPages, and
// there are formats, raw pages are read instead of text.
type Source interface {
	// Read fills buf. 0, nil says that there is nothing for a moment, io.EOF that
	// there will be nothing more.
	Read(ctx context.Context, buf []byte) (int, error)
}

// Read takes what the source that was given to [Stream.From] has for the moment: n is 0
// if that was nothing. Errors are the source's.
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
	s.Feed(s.buf[:n])
	if n == 0 {
		s.Idle()
	}
	return n, err
}

// Calls yields the calls of a running session as they end, until the source ends or
// ctx is done; those open then come last. Each Call is valid until the next. An
// error is the last thing yielded; a done ctx is none.
func Calls(ctx context.Context, src Source, plan *uprobe.Plan) iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		wanted := true
		stream, err := NewStream(plan, func(c *Call) { wanted = wanted && yield(c, nil) })
		if err != nil {
			yield(nil, err)
			return
		}
		if err := stream.From(src); err != nil {
			yield(nil, err)
			return
		}
		for wanted {
			_, err := stream.Read(ctx)
			if err == nil {
				continue
			}
			stream.Finish()
			if wanted && !errors.Is(err, io.EOF) && ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
	}
}
