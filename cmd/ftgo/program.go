package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// program is the PROGRAM that is run under probes.
type program struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error
	told bool // it was ended by us
}

// findProgram makes sure that a program can be run, before any probe is set.
func findProgram(args []string, stdout, stderr io.Writer) (*program, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", args[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	return &program{cmd: cmd, done: make(chan struct{})}, nil
}

func (p *program) start() error {
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", p.cmd.Path, errors.Unwrap(err))
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

// end tells the program to end, if it has not, and waits until it has. What ftgo has
// started does not outlive it.
func (p *program) end() {
	select {
	case <-p.done:
		return
	default:
	}
	p.told = true
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(3 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// status is the program's exit status as a shell would give it; nil for 0 and for a
// program that was ended by us.
func (p *program) status() error {
	var exit *exec.ExitError
	switch {
	case p.err == nil || p.told:
		return nil
	case !errors.As(p.err, &exit):
		return fmt.Errorf("run %s: %w", p.cmd.Path, p.err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return programStatus(128 + int(ws.Signal()))
	}
	return programStatus(exit.ExitCode())
}
