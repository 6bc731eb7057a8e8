package run

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

// Program is the PROGRAM that is run under probes.
type Program struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error
	told bool // it was ended by us
}

// FindProgram makes sure that a program can be run, before any probe is set; without words there
// is none. It writes to standard error what data must not be mixed with, if the data goes there.
func FindProgram(e *cli.Env, words []string, mixed bool) (*Program, error) {
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
	return &Program{cmd: cmd, done: make(chan struct{})}, nil
}

// Start starts it.
func (p *Program) Start() error {
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
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Used is the CPU time that it has used, if it has ended.
func (p *Program) Used() (cpu time.Duration, ended bool) {
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
func (p *Program) atEnd(f func()) (stop func()) {
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
func (p *Program) end() {
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
func (p *Program) status() error {
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
