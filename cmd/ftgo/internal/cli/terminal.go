package cli

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
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
