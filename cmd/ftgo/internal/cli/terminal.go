package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/printable"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool { return Width(w) > 0 }

// Width returns the width of a terminal, 0 for any other writer.
func Width(w io.Writer) int {
	f, ok := Unwrap(w).(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// Unwrap returns the writer that a writer of this package wraps, to pass it to a child process.
func Unwrap(w io.Writer) io.Writer {
	if shared, ok := w.(progressWriter); ok {
		return shared.w
	}
	return w
}

// progressWriter writes to a terminal whose last line shows progress. It erases that line before it writes.
type progressWriter struct {
	w io.Writer
	*progressLine
}

// progressLine is the line of progress, which standard output and standard error share.
type progressLine struct {
	mu    sync.Mutex
	w     io.Writer // standard error
	width func() int
	line  string // the visible line, or ""
}

// ShareTerminal returns writers for both streams that erase the line of [Env.Progress] on stderr before they write. It
// returns a stream unchanged if it is not a terminal, and both if stderr is not a terminal.
func ShareTerminal(stdout, stderr io.Writer) (out, err io.Writer) {
	if !IsTerminal(stderr) {
		return stdout, stderr
	}
	line := &progressLine{w: stderr, width: func() int { return Width(stderr) }}
	if IsTerminal(stdout) {
		stdout = progressWriter{stdout, line}
	}
	return stdout, progressWriter{stderr, line}
}

func (t progressWriter) Show(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(line)
}

func (t progressWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show("")
	return t.w.Write(b)
}

// show replaces the line. It leaves the last column free, because a terminal may wrap a line that fills it.
func (l *progressLine) show(line string) {
	if line == l.line {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.w, "\r"+printable.Cut(printable.Text(line), l.width()-1)+"\x1b[K") // EL
}

const (
	showAfter      = 500 * time.Millisecond // shorter work shows no progress
	redrawInterval = 100 * time.Millisecond
)

// LineShower shows a line of progress; "" removes it.
type LineShower interface{ Show(line string) }
