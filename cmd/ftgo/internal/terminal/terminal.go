// Package terminal knows what is written to people.
package terminal

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Is tells whether people read what is written there.
func Is(w io.Writer) bool {
	width, _ := Size(w)
	return width > 0
}

// plain is a terminal whose locale has no UTF-8.
type plain struct {
	io.Writer
	file *os.File
}

// Legible makes what is written to w legible, if that is a terminal without UTF-8.
func Legible(w io.Writer) io.Writer {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	file, ok := w.(*os.File)
	if !ok || !Is(w) || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8") {
		return w
	}
	return plain{asciiWriter{w}, file}
}

// File is what a program may be given to write to what w is: a file, where it is one.
func File(w io.Writer) io.Writer {
	if t, ok := w.(plain); ok {
		return t.file
	}
	return w
}

// Size is 0, 0 for what is no terminal.
func Size(w io.Writer) (width, height int) {
	f, ok := File(w).(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
