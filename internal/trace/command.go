package trace

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Command is a [Program] that does not outlive who has started it. A nil one, which is none, never
// ends.
type Command struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error
	told bool // it was ended by us
}

// NewCommand returns a program that is not started.
func NewCommand(cmd *exec.Cmd) *Command { return &Command{cmd: cmd, done: make(chan struct{})} }

// Start starts it.
func (c *Command) Start() error {
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", c.cmd.Path, unwrapped(err))
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return nil
}

// unwrapped is an error without what names the file.
func unwrapped(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// Name is what it is called by, Path that of its file.
func (c *Command) Name() string { return c.cmd.Args[0] }
func (c *Command) Path() string { return c.cmd.Path }

// PID is its number, once it was started.
func (c *Command) PID() int { return c.cmd.Process.Pid }

// Done is closed when it has ended.
func (c *Command) Done() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.done
}

// Err is why it has ended, nil if that was well, or by us.
func (c *Command) Err() error {
	if c.told {
		return nil
	}
	return c.err
}

// Used is the CPU time that it has used, if it has ended.
func (c *Command) Used() (cpu time.Duration, ended bool) {
	select {
	case <-c.done:
	default:
		return 0, false
	}
	if state := c.cmd.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	return cpu, true
}

// atEnd calls f when the program has ended, unless stop is called before.
func (c *Command) atEnd(f func()) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-c.Done():
			f()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// End tells the program to end, if it was started and has not, and waits until it has.
func (c *Command) End() {
	if c == nil || c.cmd.Process == nil {
		return
	}
	select {
	case <-c.done:
		return
	default:
	}
	c.told = true
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(3 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}
