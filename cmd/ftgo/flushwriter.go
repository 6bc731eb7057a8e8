package main

import (
	"bufio"
	"io"
)

// flushWriter gathers lines until there is nothing to read for a moment: a write for each
// of a million calls would cost more than tracing them.
type flushWriter struct {
	*bufio.Writer
	w io.Writer
}

func newFlushWriter(w io.Writer) *flushWriter {
	return &flushWriter{bufio.NewWriterSize(w, 64<<10), w}
}
