package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
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
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
