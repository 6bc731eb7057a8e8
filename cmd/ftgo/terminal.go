package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
)

// isTerminal tells whether people read what is written there.
func isTerminal(w io.Writer) bool {
	width, _ := terminalSize(w)
	return width > 0
}

// plainTerminal is a terminal whose locale has no UTF-8.
type plainTerminal struct {
	io.Writer
	file *os.File
}

// legible makes what is written to w legible, if that is a terminal without UTF-8.
func legible(w io.Writer) io.Writer {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	file, ok := w.(*os.File)
	if !ok || !isTerminal(w) || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8") {
		return w
	}
	return plainTerminal{render.ASCII(w), file}
}

// terminalSize is 0, 0 for what is no terminal.
func terminalSize(w io.Writer) (width, height int) {
	if t, ok := w.(plainTerminal); ok {
		w = t.file
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
