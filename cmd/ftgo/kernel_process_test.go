package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// child is a program that runs beside a test.
type child struct {
	*exec.Cmd
	out, err bytes.Buffer
	lines    *bufio.Reader
}

// server starts the endless target and waits until it is ready.
func server(t *testing.T, path string, args ...string) *child {
	t.Helper()
	return family(t, append([]string{path}, args...)...).child
}

// books ends the server and reads what it says of itself.
func (p *child) books(t *testing.T) books {
	t.Helper()
	noError(t, p.Process.Signal(syscall.SIGTERM))
	line, err := p.lines.ReadString('\n')
	noError(t, err)
	return readBooks(t, line)
}

// unharmed: the server has gone on, whatever was done to it.
func (p *child) unharmed(t *testing.T) {
	t.Helper()
	if b := p.books(t); b.Functions["main.tick"].Calls == 0 {
		t.Error("the target has come to harm")
	}
}

// tracer starts the command as a process of its own and waits until its probes are
// armed.
func tracer(t *testing.T, args ...string) *child {
	t.Helper()
	p := launch(t, args...)
	p.await(t)
	return p
}

// launch starts the command as a process of its own.
func launch(t *testing.T, args ...string) *child {
	t.Helper()
	return start(t, exec.Command(built(t), args...))
}

// start starts a command whose standard error is read line by line.
func start(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	p := &child{Cmd: cmd}
	p.Stdout = &p.out
	stderr, err := p.StderrPipe()
	noError(t, err)
	noError(t, p.Start())
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	p.lines = bufio.NewReader(stderr)
	return p
}

// await waits until a tracer's probes are armed.
func (p *child) await(t *testing.T) {
	t.Helper()
	p.says(t, "ftgo: probing ")
}

// says waits for a line with that in it.
func (p *child) says(t *testing.T, text string) {
	t.Helper()
	for {
		line, err := p.lines.ReadString('\n')
		p.err.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%q ended: %s", p.Args, p.err.String())
		}
	}
}

// end waits for a tracer and returns its status.
func (p *child) end(t *testing.T) int {
	t.Helper()
	p.err.ReadFrom(p.lines)
	p.Wait()
	return p.ProcessState.ExitCode()
}

// endsWell waits for a tracer that ends by itself.
func (p *child) endsWell(t *testing.T) {
	t.Helper()
	if code := p.end(t); code != 0 {
		t.Errorf("%q: status %d\n%s", p.Args, code, p.err.String())
	}
}

// interrupted ends a tracer as Ctrl-C does.
func (p *child) interrupted(t *testing.T) {
	t.Helper()
	p.Process.Signal(syscall.SIGINT)
	p.endsWell(t)
}

// nothingOf fails if anything of a process is left in the kernel.
func nothingOf(t *testing.T, f *tracefs.FS, pid int) {
	t.Helper()
	prefix := fmt.Sprintf("ftgo_%d_", pid)
	if b, err := os.ReadFile(f.Dir() + "/uprobe_events"); err != nil || bytes.Contains(b, []byte(prefix)) {
		t.Errorf("uprobe_events (%v):\n%s", err, b)
	}
	for _, dir := range []string{"instances", "events"} {
		left, err := filepath.Glob(f.Dir() + "/" + dir + "/" + prefix + "*")
		if dir == "instances" && tracefs.ThisMachine().Older(5, 5) && pipeIsOpen() {
			continue // the kernel removes no instance: see removeInstance in internal/tracefs
		}
		if err != nil || len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// pipeIsOpen reports whether any process has a trace_pipe open.
func pipeIsOpen() bool {
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	return slices.ContainsFunc(open, func(fd string) bool {
		to, _ := os.Readlink(fd)
		return filepath.Base(to) == "trace_pipe"
	})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	noError(t, os.WriteFile(to, []byte(readFile(t, from)), 0o755))
}

// copied is a copy of a file by another name.
func copied(t *testing.T, file, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	copyFile(t, file, path)
	return path
}

// TestKernelEndedBeforeItBegan: Ctrl-C while the probes are being defined is told, and is no
// success.
func TestKernelEndedBeforeItBegan(t *testing.T) {
	tracetest.Kernel(t)
	flood := fixture.Build(t, "flood")
	for _, args := range [][]string{
		{"probe", flood, "main.framed"}, {"count", flood, "main.framed", "--", flood, "-n", "7"},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(cli.Signaled(sig))
			var out, errs bytes.Buffer
			code := execute(ctx, args, &out, &errs)
			if code != 128+int(sig) || out.Len() > 0 || !strings.HasSuffix(errs.String(), "ftgo: place probes: told to end by signal: "+sig.String()+"; nothing was traced\n") {
				t.Errorf("%q: %v: status %d\n%s%s", args, sig, code, out.String(), errs.String())
			}
		}
	}
}

// needsAppend is for long tests of more probes than are placed where each is an event of its own.
func needsAppend(t *testing.T) *tracefs.FS {
	t.Helper()
	f := tracetest.LongKernel(t)
	tracetest.Needs(t, f.Features().Append, "events with many places (Linux 5.4)")
	return f
}

// remainsOf is what a process has in the kernel.
func remainsOf(t *testing.T, f *tracefs.FS, pid int) (instances, groups int) {
	t.Helper()
	count := func(dir string) int {
		names, err := filepath.Glob(fmt.Sprintf("%s/%s/ftgo_%d_*", f.Dir(), dir, pid))
		noError(t, err)
		return len(names)
	}
	return count("instances"), count("events")
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
