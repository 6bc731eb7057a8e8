// Command ftgo shows how often the functions of a running Go program are called
// and how long they take, with the kernel's uprobe_events and nothing else: no BPF,
// no ptrace, no rebuilding, no restarting.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ftgo/ftgo/tracefs"
)

func main() {
	ctx, stop := interrupted(os.Stderr)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command: it does what args say and returns the exit status.
// stdout gets data only, stderr everything else. It ends early when ctx is done, with
// the probes removed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newEnv(stdout, stderr).run(ctx, args)
}

func (e *env) run(ctx context.Context, args []string) int {
	code, text := exitStatus(e.dispatch(ctx, args))
	if text != "" {
		e.say("%s", text)
	}
	return code
}

// env is what a command has to work with.
type env struct {
	stdout, stderr io.Writer
	// bufferKB is the ring buffer's size per CPU, adjust what the kernel's features
	// are taken to be: tests make them small and few.
	bufferKB int
	adjust   func(tracefs.Features) tracefs.Features
}

// bufferKB is the ring buffer's size per CPU: a flood of 40 MB/s fills it in 0.4 s.
const bufferKB = 16 << 10

func newEnv(stdout, stderr io.Writer) *env {
	same := func(f tracefs.Features) tracefs.Features { return f }
	return &env{stdout: stdout, stderr: stderr, bufferKB: bufferKB, adjust: same}
}

// say writes a line of talk to stderr.
func (e *env) say(format string, args ...any) {
	fmt.Fprintf(e.stderr, "ftgo: "+format+"\n", args...)
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
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, e, args[1:])
		}
	}
	return usage("unknown command %q (see ftgo help)", args[0])
}
