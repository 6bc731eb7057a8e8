package cli

import (
	"cmp"
	"io"
	"os"
	"strings"
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

// ASCIIFallback returns w, or a writer that writes ASCII to w if w is a terminal without UTF-8.
func ASCIIFallback(w io.Writer) io.Writer {
	if !IsTerminal(w) || hasUTF8() {
		return w
	}
	return asciiWriter{w}
}

// TerminalText returns a text in ASCII if terminals lack UTF-8.
func TerminalText(text string) string {
	if hasUTF8() {
		return text
	}
	return ascii.Replace(text)
}

// hasUTF8 reports whether the locale says that terminals show UTF-8.
func hasUTF8() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	return strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8")
}

// Unwrap returns the writer that a writer of this package wraps, to pass it to a child process.
func Unwrap(w io.Writer) io.Writer {
	switch under := w.(type) {
	case asciiWriter:
		return Unwrap(under.w)
	case progressWriter:
		return Unwrap(under.w)
	}
	return w
}

// ascii replaces the characters of tables by ASCII characters of the same width.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "≥", ">", "≈", "~", "↓", "v",
	"░", ".", "▒", ":", "▓", "+", "█", "#")

// asciiWriter replaces the non-ASCII characters of ftgo's output. A character must not be split between two writes.
type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(a.w, ascii.Replace(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
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
