package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// program is the PROGRAM that is run under probes.
type program struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error
	told bool // it was ended by us
}

// findProgram makes sure that PROGRAM can be run, before any probe is set. It writes to
// standard error what data must not be mixed with.
func (o *options) findProgram(e *env) (*program, error) {
	path, err := exec.LookPath(o.program[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", o.program[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, o.program[1:]...)
	cmd.Args[0] = o.program[0]
	talk := terminal.File(e.Stderr)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, talk, talk
	if o.outFile != "" {
		cmd.Stdout = e.Stdout
	}
	return &program{cmd: cmd, done: make(chan struct{})}, nil
}

// until says when a run ends.
func (o *options) until() string {
	switch {
	case len(o.program) > 0:
		return "until " + o.program[0] + " ends"
	case o.duration > 0:
		return fmt.Sprintf("for %v", o.duration)
	}
	return "Ctrl-C to end"
}

// Start starts it.
func (p *program) Start() error {
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", p.cmd.Path, errors.Unwrap(err))
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

// PID is its number, once it was started.
func (p *program) PID() int { return p.cmd.Process.Pid }

// Used is the CPU time that it has used, if it has ended.
func (p *program) Used() (cpu time.Duration, ended bool) {
	select {
	case <-p.done:
	default:
		return 0, false
	}
	if state := p.cmd.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	return cpu, true
}

// atEnd calls f when the program has ended, unless stop is called before. There need not be
// a program.
func (p *program) atEnd(f func()) (stop func()) {
	stopped := make(chan struct{})
	if p != nil {
		go func() {
			select {
			case <-p.done:
				f()
			case <-stopped:
			}
		}()
	}
	return func() { close(stopped) }
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
		return cli.ProgramStatus(128 + int(ws.Signal()))
	}
	return cli.ProgramStatus(exit.ExitCode())
}
