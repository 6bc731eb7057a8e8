package trials

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// child is a program in a process group of its own, so that it ends with all that it has started.
type child struct {
	*exec.Cmd
	ctx            context.Context
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
	expired         bool          // its time was over
}

// command makes a program that runs in the module's folder. When the time is over it is interrupted,
// as by Ctrl-C, and killed if that does not end it within a minute: bpftrace takes its time. It ends
// with the test.
func command(tb testing.TB, limit time.Duration, name string, args ...string) *child {
	ctx, cancel := context.WithTimeout(interrupted, limit)
	c := &child{Cmd: exec.CommandContext(ctx, name, args...), ctx: ctx, cancel: cancel, stdout: nameless(tb), stderr: nameless(tb)}
	c.Dir, c.Stdout, c.Stderr = fixture.Root(), c.stdout, c.stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return c.signal(syscall.SIGINT) }
	c.WaitDelay = time.Minute
	tb.Cleanup(func() {
		if cancel(); c.Process != nil && c.ProcessState == nil {
			_, _ = c.wait()
		}
	})
	return c
}

// nameless makes a file that is gone when it is closed.
func nameless(tb testing.TB) *os.File {
	f, err := os.CreateTemp("", "ftgo-trial-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	check(tb, err)
	return f
}

// contents is what a child has written so far.
func contents(f *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	return string(text)
}

// start starts the child.
func (c *child) start() error {
	c.launched = time.Now()
	if err := c.Start(); err != nil {
		c.close()
		return fmt.Errorf("run %s: %w", c.Path, err)
	}
	return nil
}

func (c *child) close() {
	c.cancel()
	_ = c.stdout.Close()
	_ = c.stderr.Close()
}

// signal reaches the whole group.
func (c *child) signal(s syscall.Signal) error { return syscall.Kill(-c.Process.Pid, s) }

// wait waits for the child's end.
func (c *child) wait() (outcome, error) {
	defer c.close()
	err := c.Wait()
	o := outcome{launched: c.launched, ended: time.Now(), expired: c.ctx.Err() != nil, stdout: contents(c.stdout), stderr: contents(c.stderr)}
	_ = c.signal(syscall.SIGKILL) // what it has left behind; mostly nothing
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.user, o.sys = time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
		o.maxRSS = float64(u.Maxrss) * 1024
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w%s", strings.Join(shorten(c.Args), " "), err, lastLines(o.stderr))
	}
	return o, err
}

// run runs the child to its end.
func (c *child) run() (outcome, error) {
	if err := c.start(); err != nil {
		return outcome{}, err
	}
	return c.wait()
}

// kill ends the child at once.
func (c *child) kill() {
	_ = c.signal(syscall.SIGKILL)
	_, _ = c.wait()
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
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] == "" {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}

// childLimit is for a child that should take a second.
const childLimit = 3 * time.Minute

// goroot is where the toolchain is.
func goroot(tb testing.TB) string {
	o, err := command(tb, time.Minute, "go", "env", "GOROOT").run()
	check(tb, err)
	return strings.TrimSpace(o.stdout)
}
