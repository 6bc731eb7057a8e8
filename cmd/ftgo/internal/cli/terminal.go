package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/printable"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool { return Width(w) > 0 }

// Width returns the width of a terminal, 0 for any other writer.
func Width(w io.Writer) int {
	width, _ := TerminalSize(w)
	return width
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

// TerminalSize returns the size of a terminal, 0, 0 for any other writer.
func TerminalSize(w io.Writer) (width, height int) {
	f, ok := Unwrap(w).(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// ascii replaces the characters of tables by ASCII characters of the same width.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "≥", ">", "≈", "~", "↓", "v",
	"░", ".", "▒", ":", "▓", "+",
	"▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", "+", "▆", "+", "▇", "#", "█", "#",
	"▏", " ", "▎", " ", "▍", "-", "▌", "-", "▋", "-", "▊", "#", "▉", "#")

// asciiWriter replaces the non-ASCII characters of ftgo's output. A character must not be split between two writes.
type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(a.w, ascii.Replace(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Screen redraws a text from the top of a terminal. The terminal must know the control sequences of ECMA-48 that Draw
// uses, which all terminals since the VT100 do.
type Screen struct {
	Terminal io.Writer
	Plain    bool // write no bold text, as https://no-color.org asks
	drawn    bool // Draw was called before
}

// Draw shows text, its first line in bold. Text may contain no control characters but newlines. Draw cuts lines to
// width columns, because wrapped lines would move the others, and the text to height-1 lines; the cursor takes the last
// line. The first Draw scrolls away what the terminal shows.
func (s *Screen) Draw(text string, width, height int) error {
	lines := slices.Collect(strings.Lines(text))
	// One write, and each line is erased right before it is drawn, to avoid flicker.
	var b bytes.Buffer
	if !s.drawn {
		s.drawn = true
		b.WriteString(strings.Repeat("\n", height))
	}
	b.WriteString("\x1b[H") // CUP: to the first line
	for i, line := range lines[:min(len(lines), max(height-1, 0))] {
		line = printable.Cut(strings.TrimSuffix(line, "\n"), width)
		if !s.Plain && i == 0 {
			line = "\x1b[1m" + line + "\x1b[m" // SGR
		}
		// EL before the text: after a line as wide as the terminal, the cursor is
		// still on its last column, which EL would erase.
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[J") // ED: erase the rest
	if _, err := s.Terminal.Write(b.Bytes()); err != nil {
		return fmt.Errorf("draw screen: %w", err)
	}
	return nil
}
