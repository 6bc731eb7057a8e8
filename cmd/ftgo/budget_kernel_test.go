package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// onDemand is a testdata/paced that makes calls when it is told to.
type onDemand struct {
	*member
	t *testing.T
}

func startOnDemand(t *testing.T, path string, args ...string) *onDemand {
	t.Helper()
	m, _ := attended(t, append([]string{path}, args...)...)
	return &onDemand{m, t}
}

// call has it make calls of a function.
func (p *onDemand) call(function, times int) {
	p.t.Helper()
	p.tell(p.t, function, times)
}

// armedEvents tells of each event of a run whether it is armed.
func armedEvents(t *testing.T, dir string, pid int) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*/events/ftgo_*/*/enable", dir, pid))
	noError(t, err)
	events := make(map[string]bool)
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			events[filepath.Dir(file)] = strings.TrimSpace(string(b)) == "1"
		}
	}
	return events
}

// awaitRegrouped waits until probes that a run has begun with are disarmed, and others have come back in
// events of their own.
func awaitRegrouped(t *testing.T, dir string, pid int, before map[string]bool) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		gone, back := false, false
		for event, armed := range armedEvents(t, dir, pid) {
			was, known := before[event]
			gone = gone || was && !armed
			back = back || !known && armed
		}
		if gone && back {
			return true
		}
	}
	return false
}

// awaitProbes waits until a function's code in memory is as in the file, or is not.
func (p *onDemand) awaitProbes(function string, there bool) {
	p.t.Helper()
	b, err := offsets.Open(p.Path)
	noError(p.t, err)
	defer b.Close()
	f, _ := b.Lookup(function)
	mem, err := procfs.OpenMemory(p.Process.Pid)
	noError(p.t, err)
	defer mem.Close()
	file := []byte(readFile(p.t, p.Path))
	offset, err := b.File().FileOffset(f.Addr)
	noError(p.t, err)
	now := make([]byte, f.Size)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_, err = mem.ReadAt(now, int64(f.Addr)) // the program is where its file says
		noError(p.t, err)
		if bytes.Equal(file[offset:offset+f.Size], now) != there {
			return
		}
	}
	p.t.Errorf("%s: probed is not %v", function, there)
}

// TestKernelBudget: a function that is called more often than a tiny budget allows is not probed any
// more. Its calls until then are counted exactly, and those of others that it shared probes with, too, once
// they are back. A look may come while it is being called: that is tried again.
func TestKernelBudget(t *testing.T) {
	f := needsAppend(t)
	path := fixture.Build(t, "paced")
	for _, command := range []string{"probe", "count", "trace"} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, -p %v", command, running), func(t *testing.T) {
				tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
					target := startOnDemand(t, path, "-threads", "0")
					args := []string{command, "-o", "json", "--budget", "0.001", path, "main.c0?"}
					if running {
						args = append(args, "-p", fmt.Sprint(target.Process.Pid))
					}
					p := tracer(t, args...)
					before := armedEvents(t, f.Dir(), p.Process.Pid)
					target.call(0, 1009)
					if command == "count" && running { // tracefs does not show what is armed in one process
						target.awaitProbes("main.c00", false)
						target.awaitProbes("main.c03", true)
					} else if !awaitRegrouped(t, f.Dir(), p.Process.Pid, before) {
						p.Process.Kill()
						return []string{"the probes are as they were", p.err.String()}
					}
					target.call(0, 2003)
					target.call(3, 11)
					p.interrupted(t)
					add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
					if command == "trace" {
						lines := make(map[string]int)
						for _, line := range decoded[struct{ Type, Function string }](t, p.out.String()) {
							lines[line.Type+" "+line.Function]++
						}
						if n := lines["call main.c00"]; n == 0 || n > 1009 || lines["call main.c03"] != 11 || !strings.Contains(p.err.String(), "calls were traced, to keep the budget") {
							add("lines: %v", lines)
						}
					} else {
						o := readObserved(t, p.out.String())
						if s := o.summary; s.Delivered+s.Lost != s.Hits || s.Unparsed != 0 {
							t.Errorf("delivered %d + lost %d is not hits %d; %d not understood", s.Delivered, s.Lost, s.Hits, s.Unparsed)
						}
						hot, other := o.functions["main.c00"], o.functions["main.c03"]
						if n, sampled := hot.seen(); n == 0 || n > 1009 || command == "probe" && hot.Completed+1 < n || !sampled {
							add("hot: %+v", hot)
						}
						if n, _ := other.seen(); n != 11 || command == "probe" && other.Completed != 11 {
							add("other: %+v", other)
						}
						if hot.CallsLow > 3012 || hot.CallsHigh != nil && *hot.CallsHigh < 3012 {
							add("hot was called %d times at least, %v at most", hot.CallsLow, hot.CallsHigh)
						}
					}
					if !strings.Contains(p.err.String(), "--budget") {
						add("not told")
					}
					if len(wrong) > 0 {
						wrong = append(wrong, p.err.String())
					}
					nothingOf(t, f, p.Process.Pid)
					return wrong
				})
			})
		}
	}
}

// TestKernelBudgetAmongMany: of 10,000 functions one turns hot. It is disarmed, maybe before it has been called
// so often, and what shared its event is back in others, whose counts are exact.
func TestKernelBudgetAmongMany(t *testing.T) {
	f := needsAppend(t)
	path := fixture.Build(t, "paced")
	tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
		target := startOnDemand(t, path, "-threads", "0")
		p := tracer(t, "count", "-o", "json", "--budget", "1", path, "*")
		target.awaitProbes("runtime.gcMarkDone", true) // those of the program's own module come first
		before := armedEvents(t, f.Dir(), p.Process.Pid)
		target.call(0, 100_003)
		if !awaitRegrouped(t, f.Dir(), p.Process.Pid, before) {
			p.Process.Kill()
			return []string{"the probes are as they were", p.err.String()}
		}
		target.awaitProbes("main.c00", false)
		target.awaitProbes("main.c03", true)
		target.call(0, 2003)
		target.call(3, 11)
		p.interrupted(t)
		o := readObserved(t, p.out.String())
		hot, other := o.functions["main.c00"], o.functions["main.c03"]
		n, sampled := hot.seen()
		if m, _ := other.seen(); n == 0 || n > 100_003 || !sampled || hot.CallsHigh != nil && *hot.CallsHigh < 102_006 || m != 11 {
			wrong = append(wrong, fmt.Sprintf("hot: %+v, other: %+v", hot, other), p.err.String())
		}
		nothingOf(t, f, p.Process.Pid)
		return wrong
	})
}

// TestKernelBudgetChanges: placing the probes of 10,000 functions, none of which is hot, keeps to the budget,
// too: half of it at most, beyond a thousand probes that nothing was known of before.
func TestKernelBudgetChanges(t *testing.T) {
	f := needsAppend(t)
	p := startOnDemand(t, fixture.Build(t, "paced"), "10") // it counts all the time
	tracer := tracer(t, "count", "-d", "3", "-o", "json", "-p", fmt.Sprint(p.Process.Pid), "--budget", "1", "*")
	tracer.endsWell(t)
	probing, _ := jsonLines(t, tracer.out.String(), "summary")[0]["probing"].(map[string]any)
	number := func(name string) float64 {
		n, _ := probing[name].(float64)
		return n
	}
	changes, each, most := number("changes"), number("change_ns"), 0.01*number("cpu_ns")
	if changes == 0 || each == 0 || changes > 1000+most/each {
		t.Errorf("%v changes of %v ns each, where %v ns are allowed: %v", changes, each, most, probing)
	}
	nothingOf(t, f, p.Process.Pid)
}
