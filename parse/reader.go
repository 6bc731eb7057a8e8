package parse

import (
	"bytes"
	"context"
	"slices"
)

// Source provides the text of a trace. A tracefs.Session is one, and the file of a recording another.
type Source interface {
	// Read fills buf. It returns 0, nil if the trace has no new text at the moment, and io.EOF at the end of the trace.
	Read(ctx context.Context, buf []byte) (int, error)
}

// Pages provides raw pages. A tracefs.Session implements it, too.
type Pages interface {
	// Formats returns the kernel's descriptions of the events, in the order of the events, or nil if the source has only
	// text.
	Formats() ([]string, error)
	// ReadPages makes a pass over all CPUs. It calls page with each page. If it has emptied the buffer of a CPU, it also
	// calls page with an empty page after the CPU's last page. n is the number of pages.
	ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error)
}

// Format describes the lines and records of an event.
type Format struct {
	// Event is the event's name, a C identifier of at least 16 bytes, so that no thread's name can hold it.
	Event string
	// Args are the names of the arguments, also C identifiers.
	Args []string
	// Len is the number of words of each argument, 0 for an argument that is not an array. It is nil if no argument is an
	// array.
	Len []int
}

// lenOf returns the number of words of an argument, 0 if it is not an array.
func (f *Format) lenOf(arg int) int {
	if f.Len == nil {
		return 0
	}
	return f.Len[arg]
}

// Reader parses lines or raw pages into events.
type Reader struct {
	src   Source
	lines *formats
	merge merge
	// hits and events are the inputs of merge. text is the queue of hits from lines, nil if the Reader reads pages.
	hits, events side
	text         *queue
	splitter     splitter
	unparsed     uint64
}

// NewReader returns a Reader of hits of events. It reads raw pages if src implements [Pages] and Formats returns
// descriptions, else text. If kernel is not nil, the Reader merges the kernel events of these Pages with the hits.
// kernel.ReadPages must not wait.
func NewReader(events []Format, src Source, kernel Pages) (*Reader, error) {
	r := &Reader{src: src}
	r.hits.merge, r.events.merge = &r.merge, &r.merge
	r.hits.source, _ = src.(Pages)
	if err := r.Extend(events); err != nil {
		return nil, err
	}
	if r.hits.source == nil {
		r.text = r.hits.queue()
	}
	if kernel == nil {
		return r, nil
	}
	texts, err := kernel.Formats()
	if err != nil {
		return nil, err
	}
	r.events.source = kernel
	r.events.formats, err = newFormats(nil, texts)
	return r, err
}

// Extend replaces the list of events by a longer list. The caller calls it before it arms the new events.
func (r *Reader) Extend(events []Format) (err error) {
	var texts []string
	if r.hits.source != nil {
		if texts, err = r.hits.source.Formats(); err != nil {
			return err
		}
		if texts == nil {
			r.hits.source = nil // src delivers text
		}
	}
	if r.lines, err = newFormats(events, texts); err == nil && texts != nil {
		r.hits.formats = r.lines // pages that were already read keep the old formats, because they hold no new events
	}
	return err
}

// Read reads the present content of the source. n is the number of bytes or pages. It calls take with the events, which are
// in the order of their times within each goroutine. Each event is valid until take returns. Read returns the error of the
// source of hits or of kernel events.
func (r *Reader) Read(ctx context.Context, take func(*Event)) (n int, err error) {
	if r.hits.source != nil {
		n, err = r.hits.pass(ctx)
	} else {
		r.merge.bound = r.merge.latest
		n, err = r.src.Read(ctx, r.splitter.room())
		r.splitter.feed(n, r.line)
		if n == 0 {
			r.text.empty()
		}
	}
	if err == nil && r.events.source != nil {
		_, err = r.events.pass(context.Background())
	}
	r.merge.release(r.merge.certain(), take)
	return n, err
}

func (r *Reader) line(line []byte) {
	ev := r.text.room()
	switch kind := r.lines.parse(line, ev); {
	case kind == eventLine:
		r.text.push(ev)
	// If the line was a hit, it counts as lost. A shorter line is a piece of a thread's name with newlines in it: the kernel
	// prints names in a column of maxComm bytes, and its own lines are longer.
	case kind == unreadable && len(line) >= maxComm:
		r.unparsed++
	}
}

// Settled reports whether all hits that were read were passed on, so that none is held back for sorting.
func (r *Reader) Settled() bool {
	return !slices.ContainsFunc(r.merge.queues, func(q *queue) bool { return q.head < len(q.list) || q.has && !q.ev.Kernel })
}

// Finish calls take with the events that are held back, at the end of the trace.
func (r *Reader) Finish(take func(*Event)) {
	if r.text != nil {
		r.text.empty()
	}
	// An error here costs only kernel events at the end of the trace.
	for n, err := 1, error(nil); r.events.source != nil && n > 0 && err == nil; {
		n, err = r.events.pass(context.Background())
	}
	r.merge.release(^uint64(0), take)
	if len(r.splitter.rest()) > 0 {
		r.unparsed++
	}
}

// Unparsed returns the number of lines or records that could not be parsed.
func (r *Reader) Unparsed() (hits, kernel uint64) {
	return r.unparsed + uint64(r.splitter.dropped) + r.hits.unreadable, r.events.unreadable
}

// maxLine is the maximum length of a line in bytes, without its newline. A splitter drops longer lines. The kernel's
// own lines are shorter: a record holds about a page, and the kernel cuts its text at a page or two (struct
// trace_seq in include/linux/trace_seq.h).
const maxLine = 64 << 10

// splitter cuts a stream that arrives in chunks into lines.
type splitter struct {
	buf     []byte
	held    int  // bytes of an incomplete line at the start of buf
	skip    bool // the present line is too long and is skipped up to its end
	dropped int  // the number of lines longer than maxLine
}

// room returns the memory for the next chunk.
func (s *splitter) room() []byte {
	if s.buf == nil {
		s.buf = make([]byte, 2*maxLine)
	}
	return s.buf[s.held:][:maxLine]
}

// feed calls yield with every line that the first n bytes in room complete, without its newline. The line is valid
// until yield returns.
func (s *splitter) feed(n int, yield func(line []byte)) {
	text, searched := s.buf[:s.held+n], s.held
	for {
		i := bytes.IndexByte(text[searched:], '\n')
		if i < 0 {
			break
		}
		line := text[:searched+i]
		text, searched = text[len(line)+1:], 0
		if !s.skip && len(line) <= maxLine {
			yield(line)
		} else if !s.skip {
			s.dropped++
		}
		s.skip = false
	}
	if !s.skip && len(text) > maxLine {
		s.dropped++
		s.skip = true
	}
	if s.skip {
		text = nil
	}
	s.held = copy(s.buf[:], text)
}

// rest returns the incomplete line, valid until the next feed. At the end of a stream it was cut off, perhaps within
// a number, so it must not be parsed.
func (s *splitter) rest() []byte { return s.buf[:s.held] }
