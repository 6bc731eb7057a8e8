package ftgo_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelCalls checks all calls of a program with their values.
func TestKernelCalls(t *testing.T) {
	tracetest.Kernel(t)
	started := time.Now()
	var lines []string
	tracer := &ftgo.Tracer{Command: lookup(t, 20), Funcs: []string{"main.lookup"}, Values: true}
	for c, err := range tracer.Calls(t.Context()) {
		fixture.NoError(t, err)
		if c.Outcome != ftgo.Returned || c.Took <= 0 || c.Goroutine == 0 || c.PID != tracer.Command.Process.Pid || c.Began.Before(started) || c.Began.After(time.Now()) {
			t.Errorf("%v: %+v", c, c)
		}
		if want := "main.lookup(key string, n int) (value string, found bool, err error)"; c.Func.Signature != want {
			t.Errorf("signature %q, want %q", c.Func.Signature, want)
		}
		key, n := c.Arg("key").Any(), c.Arg("n").Any()
		if i := len(lines); i < 20 && (key != fmt.Sprint("key-", i) || n != int64(i)) || i >= 20 && (key != "twice" || n != int64(500+i-20)) {
			t.Errorf("call %d: key %v, n %v", i, key, n)
		}
		if found, err := c.Results[1].Any(), c.Results[2].Any(); found != true || err != nil {
			t.Errorf("%v: found %v, error %v", c, found, err)
		}
		if _, none := c.Arg("nosuch").Any().(error); !none {
			t.Errorf("%v has an argument nosuch: %v", c, c.Arg("nosuch"))
		}
		_, line, _ := strings.Cut(c.String(), "  goroutine 1  ")
		lines = append(lines, line)
	}
	if len(lines) != 22 || lines[3] != `main.lookup(key="key-3", n=3) = ("value-3", true, nil)` {
		t.Errorf("%d calls, want 22:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// lookup returns a command that looks up n keys and two more.
func lookup(t *testing.T, n int) *exec.Cmd {
	return exec.Command(fixture.Build(t, "lookup"), "-n", fmt.Sprint(n))
}

// TestKernelCount checks the counts of calls and hits.
func TestKernelCount(t *testing.T) {
	tracetest.Kernel(t)
	tracer := &ftgo.Tracer{Command: lookup(t, 20), Funcs: []string{"main.lookup", "main.t*", "main.never"}}
	r, err := tracer.Count(t.Context())
	fixture.NoError(t, err)
	if got := rows(r); got != "main.lookup 22, main.twice 1, main.never 0" {
		t.Errorf("counted %s", got)
	}
	if r.Hits != 23 || r.Lost != 0 || r.Unknown != nil || !r.Until.After(r.From) || r.Width <= 0 {
		t.Errorf("report %+v", r)
	}
}

// rows returns the functions of a report with their numbers of calls.
func rows(r *ftgo.Report) string {
	var all []string
	for _, f := range r.Funcs {
		all = append(all, fmt.Sprintf("%s %d", f.Func.Name, f.Calls))
	}
	return strings.Join(all, ", ")
}

// TestKernelReports checks that reports come at an interval, each with the totals since the beginning.
func TestKernelReports(t *testing.T) {
	tracetest.Kernel(t)
	cmd := exec.Command(fixture.Build(t, "asked"), "wait") // for a line, and then for the end of its input
	in, out, err := os.Pipe()
	fixture.NoError(t, err)
	defer in.Close()
	fmt.Fprintln(out)
	cmd.Stdin = in
	tracer := &ftgo.Tracer{Command: cmd, Funcs: []string{"main.held"}}
	var latest *ftgo.Report
	several := 0
	for r, err := range tracer.Reports(t.Context(), 50*time.Millisecond) {
		fixture.NoError(t, err)
		if latest != nil && (r.Funcs[0].Calls < latest.Funcs[0].Calls || r.From != latest.From || !r.Until.After(latest.Until)) {
			t.Errorf("%+v comes behind %+v", r, latest)
		}
		latest = r
		if several++; several == 2 {
			out.Close()
		}
	}
	f := latest.Funcs[0]
	if several < 2 || f.Calls != 20 || f.Completed != 20 || f.Sum <= 0 || f.Latency.AtMost(time.Hour) != 20 || f.Latency.AtMost(0) != 0 || f.Latency.Quantile(1) > f.Sum {
		t.Errorf("%d reports, the last of %+v", several, f)
	}
}

// TestKernelEntries checks that calls have their callers when they begin.
func TestKernelEntries(t *testing.T) {
	tracetest.Kernel(t)
	created := make(map[string]int)
	tracer := &ftgo.Tracer{Command: exec.Command(fixture.Build(t, "nest")), Funcs: []string{"runtime.newproc"}, Stack: 8, Entries: true}
	for c, err := range tracer.Calls(t.Context()) {
		fixture.NoError(t, err)
		var stack []string
		for f := range c.Stack() {
			stack = append(stack, f.Func)
		}
		created[strings.Join(stack, " < ")]++
		if c.Outcome != ftgo.Open || c.Took != 0 {
			t.Errorf("%+v", c)
		}
	}
	if created["main.main < runtime.main < runtime.goexit"] != 2 && created["main.main < runtime.main"] != 2 {
		t.Errorf("goroutines were created by %v", created)
	}
}

// TestKernelOutcomes checks calls that end by panics, by Goexit and with the program.
func TestKernelOutcomes(t *testing.T) {
	tracetest.Kernel(t)
	tracer := &ftgo.Tracer{Command: exec.Command(fixture.Build(t, "nest")), Funcs: []string{"main.fact", "main.risky", "main.leave", "main.stay"}}
	var last *ftgo.Report
	for r, err := range tracer.Reports(t.Context(), 0) {
		if last = r; err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string][4]uint64)
	for _, f := range last.Funcs {
		got[f.Func.Name] = [4]uint64{f.Calls, f.Completed, f.Unwound, f.Open}
	}
	for name, want := range map[string][4]uint64{"main.fact": {8, 8, 0, 0}, "main.risky": {3, 0, 3, 0}, "main.leave": {1, 0, 1, 0}, "main.stay": {1, 0, 0, 1}} {
		if got[name] != want {
			t.Errorf("%s: calls, completed, unwound, open are %v, want %v", name, got[name], want)
		}
	}
}

// TestKernelPIDs checks that only one of two processes of a program is traced, until it ends.
func TestKernelPIDs(t *testing.T) {
	fs := tracetest.Kernel(t)
	path := fixture.Build(t, "exact")
	var in [2]io.WriteCloser
	var procs [2]*exec.Cmd
	for i := range procs {
		procs[i] = exec.Command(path, "-stdin")
		var err error
		if in[i], err = procs[i].StdinPipe(); err != nil {
			t.Fatal(err)
		}
		said, err := procs[i].StderrPipe()
		if err == nil {
			err = procs[i].Start()
		}
		if err == nil {
			_, err = bufio.NewReader(said).ReadString('\n')
		}
		fixture.NoError(t, err)
	}
	tracer := &ftgo.Tracer{PIDs: []int{procs[0].Process.Pid}, Funcs: []string{"main.sleep5"}}
	done := make(chan *ftgo.Report)
	go func() {
		r, err := tracer.Count(t.Context())
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	tracetest.WaitArmed(t, fs)
	for i := range procs {
		in[i].Close()
		if err := procs[i].Wait(); err != nil {
			t.Error(err)
		}
	}
	if r := fixture.Receive(t, done); rows(r) != "main.sleep5 23" {
		t.Errorf("counted %s, want main.sleep5 23", rows(r))
	}
}
