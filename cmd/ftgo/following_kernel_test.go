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
	"time"

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

// familySteps call main.work 3 + 5 + 7·11 + 13 + 1 + 2 + 17 + 19 times: in the process itself, in
// children, in processes whose parents are gone, and after it has executed itself on
// another thread than its first.
var familySteps = strings.Fields("work=3 child=5 many=7:11 orphan=13 fork=work=1,orphan=2 thread work=17 orphan=19")

const (
	familyCalls = 3 + 5 + 7*11 + 13 + 1 + 2 + 17 + 19
	ownCalls    = 3 + 17
)

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

// completed: so many calls of a function were seen from begin to end.
func completed(t *testing.T, r result, function string, want uint64) {
	t.Helper()
	r.succeeded(t)
	if f := readObserved(t, r.stdout).functions[function]; f.Calls != want || f.Completed != want || f.NS.Max <= 0 {
		t.Errorf("%s: %d calls, %d completed, of up to %d ns; want %d\n%s", function, f.Calls, f.Completed, f.NS.Max, want, r.stderr)
	}
}

// TestKernelFork: all descendants of PROGRAM are followed, however short they live, and
// nobody else.
func TestKernelFork(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "family")
	for _, args := range [][]string{{"probe"}, {"raw", "probe"}, {"count"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			stranger := family(t, target, "stdin", "many=5:101")
			go func() { time.Sleep(100 * time.Millisecond); stranger.in.Close() }()
			args := append(readBy(t, args), "-o", "json", "--fork", target, "main.work", "--", target)
			workCalls(t, ftgo(t, append(args, familySteps...)...), familyCalls)
			stranger.goOn(t)
		})
	}
}

// attached runs a command on a process that waits, and returns what it has seen when the
// process has ended.
func attached(t *testing.T, m *member, args ...string) result {
	t.Helper()
	p := tracer(t, args...)
	m.goOn(t)
	return p.result(t)
}

func (p *child) result(t *testing.T) result {
	t.Helper()
	code := p.end(t)
	return result{code, p.out.String(), p.err.String()}
}

// TestKernelFirstThreadEnds: a process lives as long as any thread of it.
func TestKernelFirstThreadEnds(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "family")
	for _, command := range []string{"probe", "count"} {
		m := family(t, append([]string{target}, strings.Fields("stdin work=3 leave rest work=5")...)...)
		workCalls(t, attached(t, m, command, "-o", "json", "-p", m.pid(), "main.work"), 8)
	}
}

// TestKernelForkAttached: with -p, those that the process has started before are followed, too.
func TestKernelForkAttached(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "family")
	for _, command := range []string{"probe", "count"} {
		m := family(t, append([]string{target, "fork=stdin,work=23,orphan=29"}, familySteps...)...)
		r := attached(t, m, command, "-o", "json", "--fork", "-p", m.pid(), "main.work")
		workCalls(t, r, 23+29+familyCalls)
		if !strings.Contains(r.stderr, "ended") {
			t.Errorf("the end is not told:\n%s", r.stderr)
		}
		// Without --fork these are others.
		m = family(t, append([]string{target, "stdin"}, familySteps...)...)
		workCalls(t, attached(t, m, command, "-o", "json", "-p", m.pid(), "main.work"), ownCalls)
	}
}

// TestKernelFollowingUnnamed: where lines do not name the process, threads and processes that have
// ended when their lines are read are told apart all the same.
func TestKernelFollowingUnnamed(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "family")
	for _, command := range []string{"probe", "count"} {
		fork := []string{command, "-o", "json", "--fork", target, "main.work", "--", target}
		workCalls(t, ftgoOn(t, linux44, append(fork, familySteps...)...), familyCalls)
		each := []string{command, "-o", "json", "--by", "pid", target, "main.work", "--", target}
		r := ftgoOn(t, linux44, append(each, familySteps...)...)
		calls := 0.0
		for _, row := range jsonLines(t, r.stdout, "function") {
			if calls += row["calls"].(float64); row["value"] == nil {
				t.Errorf("%v is of no process", row)
			}
		}
		if calls != familyCalls {
			t.Errorf("%s --by pid: %v calls, want %d\n%s", command, calls, familyCalls, r.stderr)
		}
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
		if stat, alive := procfs.Living(pid); alive && stat.Parent == parent {
			return pid
		}
	}
	t.Fatalf("process %d has no child", parent)
	return 0
}

// TestKernelStopped: a target that is stopped for a while has not ended, and its calls last.
func TestKernelStopped(t *testing.T) {
	tracetest.Kernel(t)
	m := family(t, fixture.Build(t, "family"), "stdin", "work=3", "held", "stdin", "work=5")
	p := tracer(t, "probe", "-o", "json", "-p", m.pid(), "main.work", "main.held")
	m.tell(t)
	m.Process.Signal(syscall.SIGSTOP)
	time.Sleep(600 * time.Millisecond) // so often is looked whether it is there
	m.Process.Signal(syscall.SIGCONT)
	m.goOn(t)
	r := p.result(t)
	workCalls(t, r, 8)
	if held := readObserved(t, r.stdout).functions["main.held"]; held.Completed != 1 || held.NS.Min < 600e6 {
		t.Errorf("held: %+v", held)
	}
}

// TestKernelExec: calls that are open when the process executes a program stay open, and
// nothing of the next program is taken for theirs, though it has the same addresses.
func TestKernelExec(t *testing.T) {
	tracetest.LongKernel(t)
	for _, flags := range [][]string{nil, {"-buildmode=pie"}} {
		m := family(t, append([]string{fixture.Build(t, "family", flags...)}, strings.Fields("stdin work=3 held work=5 exec work=7 held work=9 thread held held work=11")...)...)
		r := attached(t, m, "probe", "-o", "json", "-p", m.pid(), "main.work", "main.held", "main.main")
		workCalls(t, r, 3+5+7+9+11)
		o := readObserved(t, r.stdout)
		for name, want := range map[string]bookedFunction{
			"main.held": {4, 2, 0, 2}, "main.main": {2, 1, 0, 1}, // the first had begun before
		} {
			f := o.functions[name]
			if got := (bookedFunction{f.Calls, f.Completed, f.Unwound, f.Open}); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if strings.Contains(r.stderr, "another program") {
			t.Errorf("it is the same program:\n%s", r.stderr)
		}
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	m := family(t, fixture.Build(t, "family"), "stdin", "work=3", "run="+sleep, "3")
	r := attached(t, m, "probe", "-o", "json", "-p", m.pid(), "main.work")
	workCalls(t, r, 3)
	if n := strings.Count(r.stderr, fmt.Sprintf("process %s runs another program now", m.pid())); n != 1 {
		t.Errorf("another program was told %d times, want once:\n%s", n, r.stderr)
	}
}

// TestKernelManyProcesses: hundreds of short programs in one run.
func TestKernelManyProcesses(t *testing.T) {
	tracetest.LongKernel(t)
	for _, args := range [][]string{{"probe"}, {"raw", "probe"}, {"count"}} {
		for _, flags := range [][]string{nil, {"-buildmode=pie"}} {
			target := fixture.Build(t, "family", flags...)
			args := append(readBy(t, args), "-o", "json", target, "main.work", "--", target, "many=151:3")
			workCalls(t, ftgo(t, args...), 151*3)
		}
	}
}

// TestKernelReplaced: that the file is another one now is said once. With -p the old one is found although its name is gone.
func TestKernelReplaced(t *testing.T) {
	tracetest.Kernel(t)
	path := t.TempDir() + "/family"
	copyFile(t, fixture.Build(t, "family"), path)
	m := family(t, path, "stdin", "work=3")
	p := tracer(t, "probe", "-o", "json", "--budget", "0", path, "main.work")
	copyFile(t, path, path+".new")
	noError(t, os.Rename(path+".new", path))
	p.says(t, "was replaced on disk")
	family(t, path, "stdin", "work=101").goOn(t)
	workCalls(t, attached(t, m, "probe", "-o", "json", "-p", m.pid(), "main.work"), 3)
	p.Process.Signal(syscall.SIGINT)
	r := p.result(t)
	workCalls(t, r, 3)
	if n := strings.Count(r.stderr, "was replaced on disk"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, r.stderr)
	}
}
