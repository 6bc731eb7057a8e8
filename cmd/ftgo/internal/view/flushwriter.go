package view

import (
	"bufio"
	"io"
	"time"
)

// flushWriter gathers lines for a moment: a write for each of a million calls would cost
// more than tracing them.
type flushWriter struct {
	*bufio.Writer
	w    io.Writer
	last time.Time
}

// flushEvery is too short for people to notice.
const flushEvery = 50 * time.Millisecond

// flushLate writes what has been gathered if that was not done just now.
func (w *flushWriter) flushLate() error {
	if w.Buffered() == 0 || time.Since(w.last) < flushEvery {
		return nil
	}
	w.last = time.Now()
	return w.Flush()
}

func newFlushWriter(w io.Writer) *flushWriter {
	return &flushWriter{Writer: bufio.NewWriterSize(w, 64<<10), w: w}
}
