package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// member is a process of testdata/family that has come to its step stdin, or what starts it.
type member struct {
	*child
	in io.WriteCloser
}

// family starts a command that runs the target, and waits until it is ready.
func family(t *testing.T, command ...string) *member {
	t.Helper()
	m, line := attended(t, command...)
	if !strings.HasPrefix(line, "ready") {
		t.Fatalf("%q said %q\n%s", command, line, m.err.String())
	}
	return m
}

// attended starts a command, and waits until it has written a line.
func attended(t *testing.T, command ...string) (m *member, line string) {
	t.Helper()
	m = &member{child: &child{Cmd: exec.Command(command[0], command[1:]...)}}
	var err error
	m.in, err = m.StdinPipe()
	noError(t, err)
	pipe, err := m.StdoutPipe()
	noError(t, err)
	m.Stderr = &m.err
	noError(t, m.Start())
	t.Cleanup(func() { m.in.Close(); m.Process.Kill(); m.Wait() })
	m.lines = bufio.NewReader(pipe)
	return m, m.said(t)
}

// said is the next line of a member.
func (m *member) said(t *testing.T) string {
	t.Helper()
	line, err := m.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%q said %q, %v\n%s", m.Args, line, err, m.err.String())
	}
	return line
}

// tell has a member go on with a line that it waits for, and returns what it says when it has.
func (m *member) tell(t *testing.T, line ...any) string {
	t.Helper()
	_, err := fmt.Fprintln(m.in, line...)
	noError(t, err)
	return m.said(t)
}

// goOn lets a member do its other steps, and waits until it has.
func (m *member) goOn(t *testing.T) {
	t.Helper()
	m.in.Close()
	if err := m.Wait(); err != nil {
		t.Errorf("%q: %v\n%s", m.Args, err, m.err.String())
	}
}

func (m *member) pid() string { return fmt.Sprint(m.Process.Pid) }

// familySteps call main.work ownCalls times in the process itself, and in children, in processes whose parents have ended, and
// after the process has executed itself on another thread than its first.
var familySteps = strings.Fields("work=3 child=5 many=7:11 orphan=13 fork=work=1,orphan=2 thread work=17 orphan=19")

const ownCalls = 3 + 17

// workCalls are the calls that a run has counted.
func workCalls(t *testing.T, r result, want uint64) {
	t.Helper()
	r.succeeded(t)
	o := readObserved(t, r.stdout)
	f := o.functions["main.work"]
	if f.Calls != want || f.Lost != 0 || f.Completed+f.Unwound+f.Open > 0 && f.Completed != want {
		t.Errorf("%d calls, %d completed, %d lost, want %d\n%s", f.Calls, f.Completed, f.Lost, want, r.stderr)
	}
	if s := o.summary; s.Delivered+s.Lost != s.Hits {
		t.Errorf("delivered %d + lost %d is not hits %d", s.Delivered, s.Lost, s.Hits)
	}
}

func (p *child) result(t *testing.T) result {
	t.Helper()
	code := p.end(t)
	return result{code, p.out.String(), p.err.String()}
}

// TestKernelFollowingUnnamed tells threads and processes apart that have ended when their lines are read, where lines do not
// name the process, as on Linux 4.4. The script linux44.txt does so with a program that ftgo starts.
func TestKernelFollowingUnnamed(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "family")
	for _, command := range []string{"probe", "count"} {
		m := family(t, append([]string{target, "stdin"}, familySteps...)...)
		ready, w, err := os.Pipe()
		noError(t, err)
		defer ready.Close()
		defer w.Close()
		told, err := syscall.Dup(int(w.Fd())) // that the command closes
		noError(t, err)
		done := make(chan result, 1)
		go func() {
			done <- ftgoOn(t, linux44, command, "-o", "json", "--ready-fd", fmt.Sprint(told), "-p", m.pid(), "main.work")
			io.WriteString(w, "it has ended, ready or not")
		}()
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		m.goOn(t)
		workCalls(t, <-done, ownCalls)
	}
}

// childOf is the only child of a process.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	all, err := procfs.All()
	noError(t, err)
	for _, pid := range all {
		if stat, alive := procfs.LiveStat(pid); alive && stat.Parent == parent {
			return pid
		}
	}
	t.Fatalf("process %d has no child", parent)
	return 0
}
