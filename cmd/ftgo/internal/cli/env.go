// Package cli is what all commands have in common: what they say, how they end, and their flags.
package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

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

// Progress says what is being done, each second that there is news, until stop is called, because
// who waits for more than a second wants to know for what.
func (e *Env) Progress(what func() string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		said := ""
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if now := what(); now != said {
					e.Say("%s", now)
					said = now
				}
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
