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
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/tracefs"
)

func main() {
	// Go's runtime opens what it waits with when it first has to, and ends where it can't: now
	// there is nothing in the kernel that would be left (netpollGenericInit in runtime/netpoll.go).
	time.Sleep(time.Nanosecond)
	ctx, stop := cli.Interrupted(os.Stderr)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if by := stop(); by != 0 {
		cli.Die(by)
	}
	os.Exit(code)
}

// execute is the whole command: it does what args say and returns the exit status.
// stdout gets data only, stderr everything else. It ends early when ctx is done, with
// the probes removed.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newEnv(stdout, terminal.Legible(stderr)).run(ctx, args)
}

func (e *env) run(ctx context.Context, args []string) int {
	err := e.dispatch(ctx, args)
	e.RemoveHeld()
	code, text := cli.ExitStatus(err)
	if code == cli.ExitKernel && !errors.Is(err, errDoctor) {
		text += remedy(doctor.Diagnose(e.BufferKB))
	}
	if text != "" {
		e.Warn(text)
	}
	return code
}

// env is what the commands have to work with.
type env struct{ session.Env }

func newEnv(stdout, stderr io.Writer) *env {
	same := func(f tracefs.Features) tracefs.Features { return f }
	return &env{session.Env{Env: cli.Env{Stdout: stdout, Stderr: stderr}, Adjust: same, Own: ownFunctions, Release: releaseName()}}
}

func (e *env) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		help(e.Stderr, commands(e))
		return cli.Usage("no command")
	}
	switch args[0] {
	case "-h", "--help":
		args = append([]string{"help"}, args[1:]...)
	case "--version":
		args = []string{"version"}
	case cli.CompleteArg: // no command for people
		return cli.Complete(&e.Env.Env, commands(e), args[1:])
	case "demo":
		if len(args) == 2 && args[1] == workloadArg {
			_, err := fmt.Fprintln(e.Stdout, runWorkload())
			return err
		}
	}
	if c := cli.Find(commands(e), args[0]); c != nil {
		if !c.Changes {
			signal.Reset(cli.Endings...) // there is nothing to remove
		}
		return c.Main(ctx, &e.Env.Env, args[1:])
	}
	return cli.Usage("unknown command %q (see ftgo help)", args[0])
}
