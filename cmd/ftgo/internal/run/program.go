package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/trace"
)

// FindProgram makes sure that a program can be run, before any probe is set; without words there
// is none. It writes to standard error what data must not be mixed with, if the data goes there.
func FindProgram(e *cli.Env, words []string, mixed bool) (*trace.Command, error) {
	if len(words) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Args[0] = words[0]
	talk := terminal.File(e.Stderr)
	if cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, talk, talk; !mixed {
		cmd.Stdout = e.Stdout
	}
	return trace.NewCommand(cmd), nil
}

// status is the program's exit status as a shell would give it; nil for 0 and for a
// program that was ended by us.
func status(p *trace.Command) error {
	var exit *exec.ExitError
	switch {
	case p.Err() == nil:
		return nil
	case !errors.As(p.Err(), &exit):
		return fmt.Errorf("run %s: %w", p.Path(), p.Err())
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return cli.ProgramStatus(128 + int(ws.Signal()))
	}
	return cli.ProgramStatus(exit.ExitCode())
}
