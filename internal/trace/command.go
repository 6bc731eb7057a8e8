package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime/debug"
	"syscall"
	"time"
)

// Command is a program that does not outlive who has started it. A nil one, which is none, never
// ends.
type Command struct {
	*exec.Cmd
	ended context.Context // done when it has ended
	end   context.CancelFunc
	err   error
	told  bool // it was ended by us
}

// heirs is how long what a program has started may keep the pipe of its output once it has ended.
const heirs = time.Second

// NewCommand returns a program that is not started.
func NewCommand(cmd *exec.Cmd) *Command {
	c := &Command{Cmd: cmd}
	c.WaitDelay = cmp.Or(c.WaitDelay, heirs)
	c.ended, c.end = context.WithCancel(context.Background())
	return c
}

// Start starts it.
func (c *Command) Start() error {
	if err := c.Cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", c.Path, cmp.Or(errors.Unwrap(err), err)) // without what names the file
	}
	go func() {
		if c.err = c.Wait(); errors.Is(c.err, exec.ErrWaitDelay) {
			c.err = nil // it has ended well, and what it has started has not
		}
		c.end()
	}()
	return nil
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
	if c.ended.Err() == nil {
		return 0, false
	}
	if state := c.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	return cpu, true
}

// End tells the program to end, if it was started and has not, and waits until it has.
func (c *Command) End() {
	if c == nil || c.Process == nil || c.ended.Err() != nil {
		return
	}
	c.told = true
	_ = c.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended.Done():
	case <-time.After(3 * time.Second):
		_ = c.Process.Kill()
		<-c.ended.Done()
	}
}

// Panicked is what a goroutine has panicked with. The goroutine that waits for it panics in
// its place, after its own deferred functions: they remove the probes. A panic that nobody
// catches ends the process at once, with the probes left in the kernel.
type Panicked struct {
	value any
	stack []byte
}

// Catch notes the panic of the function that defers it.
func (p *Panicked) Catch() {
	if v := recover(); v != nil {
		p.value, p.stack = v, debug.Stack()
	}
}

// Happened tells whether something was caught.
func (p *Panicked) Happened() bool { return p.stack != nil }

// Raise panics if something was caught.
func (p *Panicked) Raise() {
	if p.Happened() {
		panic(fmt.Sprintf("%v\n\n%s", p.value, p.stack))
	}
}
