package parse

import (
	"context"
)

// Source is where a trace comes from: a tracefs.Session, or the file of a recording.
type Source interface {
	// Read fills buf. 0, nil says that there is nothing for a moment, io.EOF that
	// there will be nothing more.
	Read(ctx context.Context, buf []byte) (int, error)
}

// pageSource is a [Source] that may give raw pages.
type pageSource interface {
	// Formats are the kernel's descriptions of the plan's events, in its order; none if
	// the source gives text.
	Formats() ([]string, error)
	// ReadPages makes a pass over all CPUs and hands over their pages, and after the last
	// of a CPU, if it has no more, an empty one. n is the number of pages.
	ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error)
}

// Sink takes events in order of time within each goroutine. What it gets is valid until the
// method returns.
type Sink interface {
	// Process finds the process of a thread, of which the kernel remembers printed, or 0.
	Process(tid, printed int) int
	// Hit gets the next hit of a probe.
	Hit(ev *Event)
	// Kernel gets the next event of the kernel itself.
	Kernel(ev *KernelEvent)
}

// Format is what lines and records of an event hold.
type Format struct {
	// Event is a C identifier of at least 16 bytes, so that no thread's name can hold it.
	Event string
	// Args are names, C identifiers, too.
	Args []string
	// Len is the number of words that each of Args yields, 0 for one that is no array; nil if
	// none is.
	Len []int
}

// Reader makes events of lines or raw pages.
type Reader struct {
	src    Source
	sink   Sink
	lines  prefixes
	kernel KernelSource // nil if there are no kernel events
	merge  merge
	// hits and events are what is merged; text are the hits of lines, if there is something to
	// merge them with.
	hits, events side
	text         *queue
	hit          func(*Event) // takes those of text in order
	kernelEvent  KernelEvent
	splitter     splitter
	order        order
	ev           *Event // to be filled
	name         brokenName
	unparsed     uint64
	last         owned
}

// owned is a thread whose process was asked for.
type owned struct{ tid, printed, process int }

// NewReader returns a Reader of hits of events. It reads raw pages where src has the methods of a
// tracefs.Session for them and Formats returns any, text otherwise. It adds the events of kernel,
// unless that is nil.
func NewReader(events []Format, src Source, kernel KernelSource, sink Sink) (*Reader, error) {
	r := &Reader{src: src, sink: sink, hit: sink.Hit, ev: new(Event), kernel: kernel}
	r.hits = side{merge: &r.merge, hits: true, emit: r.rawHit}
	if pages, ok := src.(pageSource); ok {
		r.hits.readFrom(pages)
	}
	if err := r.Extend(events); err != nil || kernel == nil {
		return r, err
	}
	if r.hits.source == nil {
		r.hits.emit = sink.Hit
		r.text = r.hits.queue()
		r.hit = r.text.push
	}
	texts, err := kernel.Formats()
	if err != nil {
		return nil, err
	}
	r.events = side{merge: &r.merge, emit: r.tell}
	r.events.readFrom(kernel)
	r.events.formats, err = newKernelFormats(kernel.Names(), texts)
	return r, err
}

// Extend takes note of events that have joined the others. It comes before they are armed.
func (r *Reader) Extend(events []Format) (err error) {
	lines, err := newLineParser(events)
	if err != nil {
		return err
	}
	r.lines.lines = lines // what it knows of threads still holds
	if r.hits.source == nil {
		return nil
	}
	texts, err := r.hits.source.Formats()
	if err != nil || texts == nil {
		r.hits.source = nil // it gives text
		return err
	}
	// Pages that are waiting hold none of the new events, and keep the old formats.
	r.hits.formats, err = newRawFormats(events, texts)
	return err
}

// Read takes what the source has for the moment: n is 0 if that was nothing. Errors are the
// source's.
func (r *Reader) Read(ctx context.Context) (n int, err error) {
	r.last = owned{}
	if r.hits.source != nil {
		n, err = r.hits.pass(ctx)
	} else {
		n, err = r.readText(ctx)
	}
	if err != nil {
		return n, err
	}
	if r.kernel != nil {
		_, err = r.events.pass(context.Background())
	}
	r.merge.release(r.merge.certain())
	return n, err
}

func (r *Reader) readText(ctx context.Context) (n int, err error) {
	r.merge.bound = r.merge.latest
	n, err = r.src.Read(ctx, r.splitter.room())
	r.splitter.feed(n, r.line)
	if n == 0 {
		r.order.flush(r.hit) // the buffers were found empty
		if r.text != nil {
			r.text.empty()
		}
	}
	return n, err
}

func (r *Reader) line(line []byte) {
	kind := r.lines.parse(line, r.ev)
	if kind == unreadable {
		r.unparsed++ // a hit among them is lost: it is not delivered
	}
	if kind != eventLine {
		r.name.piece(line, kind != unreadable)
		return
	}
	if r.name.len > 0 {
		r.unparsed -= r.name.end(line, r.ev.TID)
	}
	r.own(r.ev)
	r.ev = r.order.add(r.ev, r.hit)
}

// rawHit takes the next hit of raw pages in order of time.
func (r *Reader) rawHit(ev *Event) {
	r.own(ev)
	r.sink.Hit(ev)
}

// own finds the process of a hit. It is asked for once for hits of a thread that follow one another.
func (r *Reader) own(ev *Event) {
	if r.last.process == 0 || ev.TID != r.last.tid || ev.PID != r.last.printed {
		r.last = owned{ev.TID, ev.PID, r.sink.Process(ev.TID, ev.PID)}
	}
	ev.PID = r.last.process
}

// tell takes the next event of the kernel itself.
func (r *Reader) tell(ev *Event) {
	r.kernelEvent = KernelEvent{Event: ev.Format, Time: ev.Time, CPU: ev.CPU, TID: ev.TID, PID: r.kernel.Process(ev.TID, 0), data: ev.data, named: r.events.formats.events[ev.Format].named}
	r.sink.Kernel(&r.kernelEvent)
}

// Settled: no hit that was read waits for its place among the others.
func (r *Reader) Settled() bool { return len(r.order.pending) == 0 && r.merge.settled() }

// Finish gives the events that wait: there will be no more.
func (r *Reader) Finish() {
	r.order.flush(r.hit)
	// What can't be read is missing, as is what was never recorded.
	for n, err := 1, error(nil); r.kernel != nil && n > 0 && err == nil; {
		n, err = r.events.pass(context.Background())
	}
	r.merge.release(^uint64(0))
	if len(r.splitter.rest()) > 0 {
		r.unparsed++
	}
}

// Unparsed is the number of lines, or records, that were not understood.
func (r *Reader) Unparsed() uint64 {
	return r.unparsed + uint64(r.splitter.dropped) + r.hits.unreadable
}

// KernelUnparsed is the number of records of kernel events that were not understood.
func (r *Reader) KernelUnparsed() uint64 { return r.events.unreadable }
