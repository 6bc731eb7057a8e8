package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
	"github.com/ftgo/ftgo/tracefs"
)

// histKernel is the tracefs of a kernel that keeps histograms of each process. One that does
// not is no failure: nothing else is tested then.
func histKernel(t *testing.T) *tracefs.FS {
	t.Helper()
	f := tracetest.Kernel(t)
	if err := f.CheckHistograms(); err != nil {
		t.Skipf("%v: go test -exec 'scripts/vm 6.12 --' runs this on another", err)
	}
	return f
}

// These tests run on kernels in a guest, where no Go is to build a target: the test binary is
// the target, and the killed ftgo as well.
const (
	targetEnv  = "FTGO_TEST_WORKLOAD" // 1: wait for a line before the work
	commandEnv = "FTGO_TEST_COMMAND"  // the arguments, with newlines between
	here       = "github.com/ftgo/ftgo/cmd/ftgo."
)

func TestAsTarget(t *testing.T) {
	if os.Getenv(targetEnv) == "" {
		t.Skip("for other tests to start")
	}
	in := bufio.NewReader(os.Stdin)
	if os.Getenv(targetEnv) == "1" {
		_, _ = in.ReadString('\n')
	}
	fmt.Println(runWorkload())
	var wg sync.WaitGroup
	for i := range 53 {
		wg.Go(func() { deep(101 + i%7) })
		wg.Go(func() { leaves() })
	}
	wg.Wait()
}

// deep moves its goroutine's stack several times, with calls of it open.
//
//go:noinline
func deep(n int) (sum byte) {
	var room [512]byte
	room[n%len(room)] = byte(n)
	if n > 0 {
		sum = deep(n - 1)
	}
	if n == 50 {
		runtime.Gosched()
	}
	return sum + room[7]
}

// leaves never returns.
//
//go:noinline
func leaves() { runtime.Goexit() }

// deepCalls is how often TestAsTarget calls deep.
func deepCalls() (n uint64) {
	for i := range 53 {
		n += uint64(102 + i%7)
	}
	return n
}

func TestAsCommand(t *testing.T) {
	if os.Getenv(commandEnv) == "" {
		t.Skip("for other tests to start")
	}
	os.Exit(execute(t.Context(), strings.Split(os.Getenv(commandEnv), "\n"), os.Stdout, os.Stderr))
}

// inKernelLine is a line of JSON of probe --in-kernel.
type inKernelLine struct {
	Type, Function              string
	Calls, Completed            uint64
	Unfinished, Lost            uint64
	Unwound, Open               *uint64
	NS                          struct{ Mean, Sum int64 }
	AtMost                      map[string]int64 `json:"ns_at_most"`
	Histogram                   []struct{ From, To, Count int64 }
	Hits, Delivered             uint64
	Probes, Functions, Unparsed int
}

func readInKernel(t *testing.T, text string) (map[string]inKernelLine, inKernelLine) {
	t.Helper()
	funcs := make(map[string]inKernelLine)
	var summary inKernelLine
	for line := range strings.Lines(text) {
		var l inKernelLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if l.Type == "summary" {
			summary = l
		} else {
			funcs[strings.TrimPrefix(l.Function, here)] = l
		}
	}
	return funcs, summary
}

// inKernelFuncs are the functions of the target.
func inKernelFuncs() []string {
	var names []string
	for _, f := range append([]string{"main.deep", "main.leaves"}, workloadFuncs...) {
		names = append(names, strings.Replace(f, "main.", here, 1))
	}
	return names
}

// runInKernel probes the test binary as the program.
func runInKernel(t *testing.T, openCalls int, flags ...string) (result, string) {
	t.Helper()
	t.Setenv(targetEnv, "0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	args := append([]string{"probe", "--in-kernel", "-w", data}, flags...)
	args = append(append(append(args, self), inKernelFuncs()...), "--", self, "-test.run=^TestAsTarget$")
	var out, errs written
	e := newEnv(&out, &errs)
	e.OpenCalls = openCalls
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := result{code: e.run(ctx, args), stdout: out.String(), stderr: errs.String()}
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	return r, string(b)
}

// checkCounts compares with what the target does: calls, and completed ones.
func checkCounts(t *testing.T, funcs map[string]inKernelLine) {
	t.Helper()
	for name, want := range map[string][2]uint64{
		"fib": {1395, 1395}, "parseList": {997, 997}, "sleep": {100, 100}, "recovers": {11, 11},
		"passes": {11, 0}, "panics": {11, 0}, "leaves": {53, 0}, "deep": {deepCalls(), deepCalls()},
	} {
		f := funcs[name]
		if f.Calls != want[0] || f.Completed != want[1] || f.Unfinished != want[0]-want[1] || f.Lost != 0 {
			t.Errorf("%s: %d calls, %d completed, %d unfinished, %d lost; want %d and %d", name, f.Calls, f.Completed, f.Unfinished, f.Lost, want[0], want[1])
		}
		var n, from, to int64
		for _, b := range f.Histogram {
			n, from, to = n+b.Count, from+b.Count*b.From, to+b.Count*b.To
		}
		if n != int64(f.Completed) || n > 0 && (f.NS.Sum < from || f.NS.Sum >= to) {
			t.Errorf("%s: %d latencies in ranges that sum up to %d to %d; %d completed, sum %d", name, n, from, to, f.Completed, f.NS.Sum)
		}
		if f.Unwound != nil || f.Open != nil {
			t.Errorf("%s: tells unwound from open calls", name)
		}
	}
	if s := funcs["sleep"]; s.NS.Mean < 5e6 || s.AtMost["p50"] < 1<<23 {
		t.Errorf("sleeps of 5 ms: mean %d, p50 at most %d", s.NS.Mean, s.AtMost["p50"])
	}
}

// TestKernelInKernel: recursion, moved stacks, migration, panics and Goexit.
func TestKernelInKernel(t *testing.T) {
	histKernel(t)
	r, data := runInKernel(t, 0, "-o", "json")
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	funcs, s := readInKernel(t, data)
	checkCounts(t, funcs)
	calls := 1395 + 997 + 100 + 3*11 + 53 + deepCalls()
	ends := 1395 + 997 + 100 + 11 + deepCalls()
	if s.Hits != calls+ends || s.Delivered != s.Hits || s.Lost != 0 || s.Functions != 8 {
		t.Errorf("summary %+v, want %d hits", s, calls+ends)
	}
	r, data = runInKernel(t, 0, "--hist", "-i", "0.1")
	for _, want := range []string{"UNFINISHED", "≤", "total\n", "distribution"} {
		if !strings.Contains(data, want) {
			t.Errorf("no %q in the table:\n%s", want, data)
		}
	}
	for _, want := range []string{"all delivered", "unfinished: 75 calls", "percentiles are powers of two", "panics: has no return"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in the footer:\n%s", want, r.stderr)
		}
	}
}

// TestKernelInKernelFull: what the kernel's table can't hold is counted, and told.
func TestKernelInKernelFull(t *testing.T) {
	histKernel(t)
	r, data := runInKernel(t, 128, "-o", "json", "--max-lost", "0")
	if r.code != cli.ExitLost {
		t.Errorf("status %d\n%s", r.code, r.stderr)
	}
	funcs, s := readInKernel(t, data)
	if s.Lost == 0 || s.Delivered+s.Lost != s.Hits {
		t.Errorf("summary %+v", s)
	}
	if f := funcs["deep"]; f.Calls != deepCalls() || f.Completed >= f.Calls || f.Completed+f.Lost != f.Calls {
		t.Errorf("deep: %+v", f)
	}
	if f := funcs["fib"]; f.Calls != 1395 {
		t.Errorf("fib: %+v", f)
	}
}

// TestKernelInKernelProcess: of two processes of the binary only that of -p counts.
func TestKernelInKernelProcess(t *testing.T) {
	f := histKernel(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(targetEnv, "1")
	var targets [2]*exec.Cmd
	var inputs [2]io.WriteCloser
	for i := range targets {
		targets[i] = exec.Command(self, "-test.run=^TestAsTarget$")
		if inputs[i], err = targets[i].StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := targets[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan result)
	var out, errs written
	go func() {
		args := append([]string{"probe", "--in-kernel", "-o", "json", "-p", fmt.Sprint(targets[0].Process.Pid)}, inKernelFuncs()...)
		done <- result{code: execute(t.Context(), args, &out, &errs)}
	}()
	waitTriggers(t, f)
	for i := range targets {
		if _, err := io.WriteString(inputs[i], "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range targets {
		if err := targets[i].Wait(); err != nil {
			t.Errorf("target: %v", err)
		}
	}
	if r := <-done; r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, errs.String())
	}
	funcs, _ := readInKernel(t, out.String())
	checkCounts(t, funcs)
	if !strings.Contains(errs.String(), "has ended") {
		t.Errorf("stderr %s", errs.String())
	}
}

// waitTriggers waits until a process is followed: the last step of a session that runs.
func waitTriggers(t *testing.T, f *tracefs.FS) {
	t.Helper()
	for range 3000 {
		if b, err := os.ReadFile(f.Dir() + "/synthetic_events"); err == nil && strings.Contains(string(b), "ftgo_") {
			names, err := filepath.Glob(f.Dir() + "/instances/ftgo_*/events/ftgo_*/r1_*/trigger")
			for _, n := range names {
				if b, rerr := os.ReadFile(n); err == nil && rerr == nil && strings.Contains(string(b), "onmatch") {
					time.Sleep(100 * time.Millisecond)
					return
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no triggers were set within thirty seconds")
}

// TestKernelInKernelKilled: what a killed run leaves, triggers and synthetic event too, the
// next one removes, while the target goes on and hits the probes.
func TestKernelInKernelKilled(t *testing.T) {
	f := histKernel(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(targetEnv, "1")
	target := exec.Command(self, "-test.run=^TestAsTarget$")
	input, err := target.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(self, "-test.run=^TestAsCommand$")
	killed.Env = append(os.Environ(), commandEnv+"="+strings.Join(append([]string{"probe", "--in-kernel", "-p", fmt.Sprint(target.Process.Pid)}, inKernelFuncs()...), "\n"))
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	waitTriggers(t, f)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if _, err := io.WriteString(input, "\n"); err != nil {
		t.Fatal(err)
	}
	r := ftgo(t, "clean")
	if r.code != 0 || !strings.Contains(r.stdout, fmt.Sprintf("process %d\t2 probe events", killed.Process.Pid)) {
		t.Errorf("clean: status %d, %q, %s", r.code, r.stdout, r.stderr)
	}
	if err := target.Wait(); err != nil {
		t.Errorf("target: %v", err)
	}
	name := fmt.Sprintf("ftgo_%d_", killed.Process.Pid)
	for _, file := range []string{"uprobe_events", "synthetic_events"} {
		if b, err := os.ReadFile(f.Dir() + "/" + file); err != nil || strings.Contains(string(b), name) {
			t.Errorf("%s (%v):\n%s", file, err, b)
		}
	}
	if left, _ := filepath.Glob(f.Dir() + "/instances/" + name + "*"); len(left) > 0 {
		t.Errorf("instances left: %q", left)
	}
}

// TestKernelInKernelMissing: on a kernel without, one line says what it lacks.
func TestKernelInKernelMissing(t *testing.T) {
	f := tracetest.Kernel(t)
	lacks := f.CheckHistograms()
	if lacks == nil {
		t.Skip("the running kernel keeps histograms")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := ftgo(t, append([]string{"probe", "--in-kernel", "-p", fmt.Sprint(os.Getpid()), self}, inKernelFuncs()...)...)
	if r.code != cli.ExitKernel || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, lacks.Error()) {
		t.Errorf("no %q in %q", lacks, r.stderr)
	}
}

func TestInKernelRefuses(t *testing.T) {
	target := fixture.Build(t, "flood")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{target, "main.leaf"}, cli.ExitUsage, "--in-kernel needs -p, --container, --cgroup, -- PROGRAM or --dry-run: "},
		{[]string{"-p", "1", "-p", "2", target, "main.leaf"}, cli.ExitUsage, "several -p"},
		{[]string{"--errors", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--in-kernel and --errors exclude each other: "},
		{[]string{"--stack", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--stack"},
		{[]string{"-o", "folded", target, "main.leaf", "--", "true"}, cli.ExitUsage, "folded"},
		{[]string{"-n", "7", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--calls"},
		{[]string{"--fail-if", "calls > 3", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--fail-if"},
		{[]string{"--buffer", "1M", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--buffer"},
		{[]string{"--wait", target, "main.leaf", "--", "true"}, cli.ExitUsage, "--wait"},
		{[]string{"--dry-run", target, "main.leaf+0"}, cli.ExitUsage, "not instructions"},
		{[]string{"--dry-run", target, "runtime.mallocgc"}, cli.ExitNothing, "package runtime"},
	} {
		r := ftgo(t, append([]string{"probe", "--in-kernel"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			t.Errorf("%q: status %d, stdout %q, stderr %q; want %d and %q", c.args, r.code, r.stdout, r.stderr, c.code, c.want)
		}
	}
	r := ftgo(t, "probe", "--in-kernel", "--dry-run", target, "main.leaf", "main.framed")
	if r.code != 0 || strings.Count(r.stdout, "\np:ftgo/r1_") != 2 || !strings.Contains(r.stdout, ` f=\1:u64 g=%r14:u64 `) {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
