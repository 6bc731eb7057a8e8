package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Command is a child process that is ended with the run. End does nothing for a nil Command.
type Command struct {
	*exec.Cmd
	ended      context.Context // is canceled when the process has ended
	end        context.CancelFunc
	err        error
	terminated bool // End has sent a signal to the process
}

// outputDelay limits how long Wait reads the output of a process that has ended, because its children may hold the pipe
// open.
const outputDelay = time.Second

// NewCommand returns a Command that is not started.
func NewCommand(cmd *exec.Cmd) *Command {
	c := &Command{Cmd: cmd}
	c.WaitDelay = cmp.Or(c.WaitDelay, outputDelay)
	c.ended, c.end = context.WithCancel(context.Background())
	return c
}

// Start starts the process.
func (c *Command) Start() error {
	if err := c.Cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", c.Path, cmp.Or(errors.Unwrap(err), err)) // err of exec repeats the path
	}
	go func() {
		if c.err = c.Wait(); errors.Is(c.err, exec.ErrWaitDelay) {
			c.err = nil // the process itself has succeeded; only its children hold the pipe
		}
		c.end()
	}()
	return nil
}

// Err returns why the process failed. It returns nil if it succeeded, if it has not ended, or if End has ended it.
func (c *Command) Err() error {
	if c.terminated {
		return nil
	}
	return c.err
}

// Used returns the CPU time of the process once it has ended.
func (c *Command) Used() (cpu time.Duration, ended bool) {
	if c.ended.Err() == nil {
		return 0, false
	}
	if state := c.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	return cpu, true
}

// End sends SIGTERM to a running process, and SIGKILL 3 s later. It returns when the process has ended.
func (c *Command) End() {
	if c == nil || c.Process == nil || c.ended.Err() != nil {
		return
	}
	c.terminated = true
	_ = c.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended.Done():
	case <-time.After(3 * time.Second):
		_ = c.Process.Kill()
		<-c.ended.Done()
	}
}
