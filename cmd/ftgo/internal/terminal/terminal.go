// Package terminal knows what is written to people.
package terminal

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Is tells whether people read what is written there.
func Is(w io.Writer) bool {
	width, _ := Size(w)
	return width > 0
}

// Legible makes what is written to w legible, if that is a terminal without UTF-8.
func Legible(w io.Writer) io.Writer {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	_, ok := w.(*os.File)
	if !ok || !Is(w) || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8") {
		return w
	}
	return asciiWriter{w}
}

// File is what a program may be given to write to what w is: a file, where it is one.
func File(w io.Writer) io.Writer {
	if a, ok := w.(asciiWriter); ok {
		return a.w
	}
	return w
}

// Size is 0, 0 for what is no terminal.
func Size(w io.Writer) (width, height int) {
	f, ok := File(w).(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// ascii is what stands for the signs of tables where a terminal can't show them: each takes
// one column, as they do.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "≈", "~",
	"▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", "+", "▆", "+", "▇", "#", "█", "#",
	"▏", " ", "▎", " ", "▍", "-", "▌", "-", "▋", "-", "▊", "#", "▉", "#")

// asciiWriter writes in ASCII the signs that ftgo uses, and all else as it is. A sign must not be
// split between two writes.
type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(b []byte) (int, error) {
	if _, err := ascii.WriteString(a.w, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
