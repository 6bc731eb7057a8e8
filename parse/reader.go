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

// Pages are where raw pages come from: a tracefs.Session, too.
type Pages interface {
	// Formats are the kernel's descriptions of the events, in their order; none if there is but
	// text.
	Formats() ([]string, error)
	// ReadPages makes a pass over all CPUs and hands over their pages, and after the last
	// of a CPU, if it has no more, an empty one. n is the number of pages.
	ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error)
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
	src   Source
	lines *lineParser
	merge merge
	// hits and events are what is merged; text are the hits of lines, nil if there is nothing to
	// merge them with.
	hits, events side
	text         *queue
	hit          func(*Event) // takes those of text in order
	splitter     splitter
	order        order
	ev           *Event // to be filled
	name         brokenName
	unparsed     uint64
}

// NewReader returns a Reader of hits of events. It reads raw pages where src has the methods of
// [Pages] and Formats returns any, text otherwise. It adds the events of kernel, which never waits,
// unless that is nil.
func NewReader(events []Format, src Source, kernel Pages) (*Reader, error) {
	r := &Reader{src: src, ev: new(Event)}
	r.hits.merge, r.events.merge = &r.merge, &r.merge
	r.hits.source, _ = src.(Pages)
	if err := r.Extend(events); err != nil || kernel == nil {
		return r, err
	}
	if r.hits.source == nil {
		r.text = r.hits.queue()
		r.hit = r.text.push
	}
	texts, err := kernel.Formats()
	if err != nil {
		return nil, err
	}
	r.events.source = kernel
	r.events.formats, err = newKernelFormats(texts)
	return r, err
}

// Extend takes note of events that have joined the others. It comes before they are armed.
func (r *Reader) Extend(events []Format) (err error) {
	lines, err := newLineParser(events)
	if err != nil {
		return err
	}
	r.lines = lines
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
// source's. take gets the events, in order of time within each goroutine; each is valid until it returns.
func (r *Reader) Read(ctx context.Context, take func(*Event)) (n int, err error) {
	if r.hits.source != nil {
		n, err = r.hits.pass(ctx)
	} else {
		n, err = r.readText(ctx, take)
	}
	if err != nil {
		return n, err
	}
	if r.events.source != nil {
		_, err = r.events.pass(context.Background())
	}
	r.merge.release(r.merge.certain(), take)
	return n, err
}

func (r *Reader) readText(ctx context.Context, take func(*Event)) (n int, err error) {
	if r.text == nil {
		r.hit = take
	}
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
	r.ev = r.order.add(r.ev, r.hit)
}

// Settled: no hit that was read waits for its place among the others.
func (r *Reader) Settled() bool { return len(r.order.pending) == 0 && r.merge.settled() }

// Finish hands over the events that wait: there will be no more.
func (r *Reader) Finish(take func(*Event)) {
	if r.text == nil {
		r.hit = take
	}
	r.order.flush(r.hit)
	// What can't be read is missing, as is what was never recorded.
	for n, err := 1, error(nil); r.events.source != nil && n > 0 && err == nil; {
		n, err = r.events.pass(context.Background())
	}
	r.merge.release(^uint64(0), take)
	if len(r.splitter.rest()) > 0 {
		r.unparsed++
	}
}

// Unparsed is the number of lines, or records, that were not understood, of hits and of kernel events.
func (r *Reader) Unparsed() (hits, kernel uint64) {
	return r.unparsed + uint64(r.splitter.dropped) + r.hits.unreadable, r.events.unreadable
}
