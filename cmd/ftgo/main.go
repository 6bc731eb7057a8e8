// Command ftgo shows how often the functions of a running Go program are called
// and how long they take, with the kernel's uprobe_events and nothing else: no BPF,
// no ptrace, no rebuilding, no restarting.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/doctor"
)

func main() {
	// Go's runtime opens what it waits with when it first has to, and ends where it can't: now
	// there is nothing in the kernel that would be left (netpollGenericInit in runtime/netpoll.go).
	time.Sleep(time.Nanosecond)
	ctx, stop := interrupted(os.Stderr)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if by := stop(); by != 0 {
		die(by)
	}
	os.Exit(code)
}

// run is the whole command: it does what args say and returns the exit status.
// stdout gets data only, stderr everything else. It ends early when ctx is done, with
// the probes removed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newEnv(stdout, terminal.Legible(stderr)).run(ctx, args)
}

func (e *env) run(ctx context.Context, args []string) int {
	err := e.dispatch(ctx, args)
	e.removeHeld()
	code, text := exitStatus(err)
	if code == exitKernel && !errors.Is(err, errDoctor) {
		text += remedy(doctor.Diagnose(e.bufferKB))
	}
	if text != "" {
		e.complain(text)
	}
	return code
}

// env is what a command has to work with.
type env struct {
	stdout, stderr io.Writer
	// bufferKB is the ring buffer's size per CPU, 0 for what suits the machine, adjust what
	// the kernel's features are taken to be: tests make them small and few.
	bufferKB int
	adjust   func(tracefs.Features) tracefs.Features
	// openCalls is how many open calls the kernel's own histograms tell apart, 0 as many as
	// is usual.
	openCalls int
	// flagsOnly, if set, gets the flags of a command, which then does nothing.
	flagsOnly func(*pflag.FlagSet)
	quiet     bool
	// fsys is the tracefs that was used, nil if none was.
	fsys *tracefs.FS
}

func newEnv(stdout, stderr io.Writer) *env {
	same := func(f tracefs.Features) tracefs.Features { return f }
	return &env{stdout: stdout, stderr: stderr, adjust: same}
}

// say writes a line of talk to stderr.
func (e *env) say(format string, args ...any) {
	if !e.quiet {
		e.complain(fmt.Sprintf(format, args...))
	}
}

// complain writes a line to stderr that is no mere talk. Names in it may come from a binary
// or a file system that wants to control the terminal, or to say something itself.
func (e *env) complain(text string) {
	fmt.Fprintf(e.stderr, "ftgo: %s\n", render.Escape(strings.ReplaceAll(text, "\n", "; ")))
}

func (e *env) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		help(e.stderr)
		return usage("no command")
	}
	switch args[0] {
	case "-h", "--help":
		args = append([]string{"help"}, args[1:]...)
	case "--version":
		args = []string{"version"}
	case completeArg: // no command for people
		return completeWords(ctx, e, args[1:])
	}
	for _, c := range commands() {
		if c.name == args[0] {
			if !c.probes {
				signal.Reset(endings...) // there is nothing to remove
			}
			return c.run(ctx, e, args[1:])
		}
	}
	return usage("unknown command %q (see ftgo help)", args[0])
}
