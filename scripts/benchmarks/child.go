//go:build ignore

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// child is a program that was started. It has a process group of its own, so that it ends
// with all that it has started.
type child struct {
	cmd            *exec.Cmd
	cancel         context.CancelFunc
	stdout, stderr *os.File // for the child to write, so that nobody waits for its heirs
	launched       time.Time
}

// outcome is what is known of a child that has ended.
type outcome struct {
	stdout, stderr  string
	launched, ended time.Time
	user, sys       time.Duration // its own and its children's
	maxRSS          float64       // bytes, the largest of them
}

// startTo starts a program whose standard output goes to a file, which is then closed,
// or is kept if the file is nil. When
// the time is over it is interrupted, as by Ctrl-C, and killed if that does not end it
// within a minute: bpftrace takes its time.
func (b *bench) startTo(stdout *os.File, limit time.Duration, name string, args ...string) (*child, error) {
	stderr, err := os.CreateTemp(b.dir, "stderr-")
	if err != nil {
		return nil, err
	}
	if stdout == nil {
		if stdout, err = os.CreateTemp(b.dir, "stdout-"); err != nil {
			return nil, errors.Join(err, stderr.Close())
		}
	}
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	c := &child{cmd: exec.CommandContext(ctx, name, args...), cancel: cancel, stdout: stdout, stderr: stderr}
	c.cmd.Stdout, c.cmd.Stderr = stdout, stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Cancel = func() error { return c.signal(syscall.SIGINT) }
	c.cmd.WaitDelay = time.Minute
	c.cmd.Env = append(os.Environ(), "BPFTRACE_MAX_PROBES=100000")
	c.launched = time.Now()
	if err := c.cmd.Start(); err != nil {
		cancel()
		_, _ = c.output()
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	return c, nil
}

func (b *bench) start(limit time.Duration, name string, args ...string) (*child, error) {
	return b.startTo(nil, limit, name, args...)
}

// signal reaches the whole group.
func (c *child) signal(s syscall.Signal) error { return syscall.Kill(-c.cmd.Process.Pid, s) }

// wait waits for the child's end.
func (c *child) wait() (outcome, error) {
	defer c.cancel()
	err := c.cmd.Wait()
	o := outcome{launched: c.launched, ended: time.Now()}
	o.stdout, o.stderr = c.output()
	_ = c.signal(syscall.SIGKILL) // what it has left behind; mostly nothing
	if u, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.user, o.sys = time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
		o.maxRSS = float64(u.Maxrss) * 1024
	}
	if err != nil {
		return o, fmt.Errorf("run %s: %w%s", strings.Join(shorten(c.cmd.Args), " "), err, lastLines(o.stderr))
	}
	return o, nil
}

// interrupt ends the child as Ctrl-C does, which is no error.
func (c *child) interrupt() (outcome, error) {
	if err := c.signal(syscall.SIGINT); err != nil {
		return outcome{}, err
	}
	o, err := c.wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 1 {
		err = nil
	}
	return o, err
}

// says waits until the child has written some words to standard error.
func (c *child) says(words string, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(c.stderr.Name()); err != nil || bytes.Contains(text, []byte(words)) {
			return err
		}
	}
	return fmt.Errorf("run %s: %q not said within %v", c.cmd.Args[0], words, limit)
}

// output is what the child has written to files of its own, which are removed.
func (c *child) output() (stdout, stderr string) {
	take := func(f *os.File) string {
		text := ""
		if strings.HasPrefix(filepath.Base(f.Name()), "std") {
			b, _ := os.ReadFile(f.Name())
			text = string(b)
			_ = os.Remove(f.Name())
		}
		_ = f.Close()
		return text
	}
	return take(c.stdout), take(c.stderr)
}

// run runs a program to its end.
func (b *bench) run(limit time.Duration, name string, args ...string) (outcome, error) {
	c, err := b.start(limit, name, args...)
	if err != nil {
		return outcome{}, err
	}
	return c.wait()
}

// shorten leaves out most of many arguments.
func shorten(args []string) []string {
	if len(args) > 12 {
		args = append(args[:12:12], "...")
	}
	short := make([]string, len(args))
	for i, a := range args {
		short[i] = a[:min(len(a), 120)]
	}
	return short
}

func lastLines(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}
