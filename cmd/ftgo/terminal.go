package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether people read what is written there.
func isTerminal(w io.Writer) bool {
	width, _ := terminalSize(w)
	return width > 0
}

// terminalSize is 0, 0 for what is no terminal.
func terminalSize(w io.Writer) (width, height int) {
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
