package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that ask a process to end.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// interrupted returns a context that is done once the process is told to end.
//
// The signals stay caught until stop is called: a second Ctrl-C must not kill the
// process while it removes its probes. SIGPIPE is caught so that a write to a closed
// pipe is an error like any other, and not the end.
func interrupted(stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endings...)
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				if ctx.Err() != nil {
					fmt.Fprintln(stderr, "ftgo: removing the probes, one moment")
				}
				cancel()
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		close(done)
		cancel()
	}
}
