// Package cli is what all commands have in common: what they say, how they end, and their flags.
package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Env is where a command writes: data to Stdout, everything else to Stderr.
type Env struct {
	Stdout, Stderr io.Writer
	Quiet          bool
}

// Say writes a line to stderr, but not under --quiet.
func (e *Env) Say(format string, args ...any) {
	if !e.Quiet {
		e.Warn(fmt.Sprintf(format, args...))
	}
}

// Warn writes a line to stderr, even under --quiet. It escapes the text, because names in it may
// come from a binary or a file system that wants to control the terminal, or to say something
// itself.
func (e *Env) Warn(text string) {
	fmt.Fprintf(e.Stderr, "ftgo: %s\n", printable.Text(strings.ReplaceAll(text, "\n", "; ")))
}

// Talk is the flags that say what is written beside the data.
type Talk struct {
	Env *Env
	// Header: the columns' names are written.
	Header bool
}

// Define defines -q and --header.
func (t *Talk) Define(fs *Flags) {
	fs.BoolVarP(&t.Env.Quiet, "quiet", "q", false, "write only errors and losses to standard error")
	t.Header = true
	Define(fs, &t.Header, "header", "", "write the columns' names", YesNo)
}

// Check finds nothing.
func (t *Talk) Check(string) error { return nil }
