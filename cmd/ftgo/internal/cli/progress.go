package cli

import (
	"io"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
)

// talk is a terminal with a line of progress below its other output. The line is removed before
// anything else is written, and drawn again below that.
type talk struct {
	w io.Writer
	*below
}

// below is the line of progress, which standard output and standard error share.
type below struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int
	line  string // the visible line, "" for none
}

// Together returns writers for both streams that keep their output apart from the line that [Progress] draws
// on stderr. A stream that is no terminal is returned unchanged.
func Together(stdout, stderr io.Writer) (out, err io.Writer) {
	if !IsTerminal(stderr) {
		return stdout, stderr
	}
	line := &below{w: stderr, width: func() int { return Width(stderr) }}
	if IsTerminal(stdout) {
		stdout = talk{stdout, line}
	}
	return stdout, talk{stderr, line}
}

func (t talk) Show(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(line)
}

func (t talk) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show("")
	return t.w.Write(b)
}

// show replaces the line. It leaves the last column free, because a terminal may wrap after it.
func (l *below) show(line string) {
	if line == l.line {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.w, "\r"+printable.Cut(printable.Text(line), l.width()-1)+"\x1b[K") // EL
}

const (
	patience = 500 * time.Millisecond // shorter work shows no progress
	redrawn  = 100 * time.Millisecond
)

// Shower shows a line of progress; "" removes it.
type Shower interface{ Show(line string) }

// Progress shows a line on a [Shower], like those of [Together], and updates it until stop is called. On any other
// writer it shows nothing.
func Progress(w io.Writer, line func() string) (stop func()) {
	t, ok := w.(Shower)
	if !ok {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		for wait := patience; ; wait = redrawn {
			select {
			case <-done:
				return
			case <-time.After(wait):
				t.Show(line())
			}
		}
	}()
	return func() {
		done <- struct{}{} // the goroutine draws nothing after this
		t.Show("")
	}
}
