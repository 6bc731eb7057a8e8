package terminal

import (
	"io"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
)

// talk is a terminal that may have a line below all that is written to it, which says how far long work
// is. The line goes before anything else is written, and comes again below that.
type talk struct {
	w io.Writer
	*below
}

// below is the line. It has one place, be it that standard output and standard error are both there.
type below struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int
	line  string // that is shown, or ""
}

// Together makes what is written to the one and to the other fit together with what [Progress] shows on
// stderr. What is no terminal stays as it is.
func Together(stdout, stderr io.Writer) (out, err io.Writer) {
	if !Is(stderr) {
		return stdout, stderr
	}
	line := &below{w: stderr, width: func() int { width, _ := Size(stderr); return width }}
	if Is(stdout) {
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

// show puts a line in the place of the one that is there. It keeps clear of the last column, behind
// which terminals go on in the next line.
func (l *below) show(line string) {
	if line == l.line {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.w, "\r"+printable.Cut(printable.Text(line), l.width()-1)+"\x1b[K") // EL
}

const (
	patience = 500 * time.Millisecond // what takes less is not told of
	redrawn  = 100 * time.Millisecond
)

// Shower has a place for a line that says how far long work is, "" when it is done.
type Shower interface{ Show(line string) }

// Progress shows a line on a [Shower], like those of [Together], as it is from moment to moment, while something takes its
// time, until stop is called. Elsewhere it shows nothing.
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
		done <- struct{}{} // it draws nothing any more
		t.Show("")
	}
}
