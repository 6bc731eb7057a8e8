package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// booked fails unless the books of calls that were counted first balance, and agree with
// the target's own.
func booked(t *testing.T, o observed, b books) {
	t.Helper()
	for name, f := range o.functions {
		if f.Calls != f.Completed+f.Unwound+f.Open+f.Lost+f.CountedOnly {
			t.Errorf("%s: %d completed, %d unwound, %d open, %d lost, %d only counted do not make %d calls", name, f.Completed, f.Unwound, f.Open, f.Lost, f.CountedOnly, f.Calls)
		}
	}
	for name, want := range b.Functions {
		f := o.functions[name]
		if f.Calls < want.Calls || f.Calls-f.Unsure > want.Calls {
			t.Errorf("%s: %d calls, of which %d are unsure, want %d", name, f.Calls, f.Unsure, want.Calls)
		}
		if f.Completed > want.Completed || f.Unwound > want.Unwound || f.Open > want.Open {
			t.Errorf("%s: %d completed, %d unwound, %d open, of %+v", name, f.Completed, f.Unwound, f.Open, want)
		}
	}
	s := o.summary
	if s.Delivered+s.Lost != s.Hits || s.Counted > s.Hits || s.Counted == 0 {
		t.Errorf("delivered %d + lost %d is not hits %d, of which %d only counted", s.Delivered, s.Lost, s.Hits, s.Counted)
	}
	if s.Unparsed != 0 {
		t.Errorf("%d lines not understood", s.Unparsed)
	}
}

// TestKernelMaxRate: what is called up to 1,000 times a second is timed, as soon as it
// is; what is called more often is not, and ceases to be. The target's rates go by the
// clock, so that on a busy machine none may be what it should: that is tried again. What
// ftgo does wrong it does each time.
func TestKernelMaxRate(t *testing.T) {
	tracetest.Kernel(t)
	for _, reader := range readers() {
		t.Run(reader, func(t *testing.T) {
			tracetest.RightOnce(t, 3, t.Errorf, func() []string {
				o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "rates"), []string{"main.*", "--max-rate", "1000", "--reader", reader}, "-for", "6s")
				if r.code != 0 {
					t.Fatalf("status %d\n%s", r.code, r.stderr)
				}
				booked(t, o, b)
				for _, name := range []string{"main.slow", "main.late", "main.fib", "main.catches", "main.turns"} {
					if n := o.functions[name].Unwound; n != 0 {
						t.Errorf("%s: %d unwound", name, n)
					}
				}
				// It was running before anything could be timed.
				if f := o.functions["main.open"]; f.CountedOnly != 1 {
					t.Errorf("open: %+v", f)
				}
				if t.Failed() {
					t.Log(r.stderr)
				}
				wrong := wronglyTimed(o)
				if len(wrong) > 0 {
					wrong = append(wrong, r.stderr)
				}
				return wrong
			})
		})
	}
}

// wronglyTimed tells which functions of testdata/rates should have been timed at 1,000
// calls a second at most, or should not.
func wronglyTimed(o observed) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, name := range []string{"main.slow", "main.late", "main.fib", "main.catches"} {
		if f := o.functions[name]; f.Completed == 0 || f.TooOften != 0 {
			add("%s: %d completed, too often at %v/s", name, f.Completed, f.TooOften)
		}
	}
	if f := o.functions["main.hot"]; f.CountedOnly != f.Calls || f.TooOften <= 1000 {
		add("hot: %d of %d calls only counted, too often at %v/s", f.CountedOnly, f.Calls, f.TooOften)
	}
	if f := o.functions["main.turns"]; f.Completed == 0 || f.CountedOnly == 0 || f.TooOften <= 1000 {
		add("turns: %d calls, %d completed, %d only counted, too often at %v/s", f.Calls, f.Completed, f.CountedOnly, f.TooOften)
	}
	return wrong
}

// TestKernelCountFirst: for so many functions it is what happens if nothing is said; one
// that is named is timed from the start all the same.
func TestKernelCountFirst(t *testing.T) {
	tracetest.Kernel(t)
	fixture.NeedLong(t)
	o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "rates"), []string{"*", "main.late", "main.panics"}, "-for", "6s")
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	booked(t, o, b)
	if f := o.functions["main.late"]; f.CountedOnly != 0 || f.Completed+f.Lost != f.Calls {
		t.Errorf("late was named: %d calls, %d completed, %d lost, %d only counted", f.Calls, f.Completed, f.Lost, f.CountedOnly)
	}
	if f := o.functions["main.panics"]; f.CountedOnly != 0 || f.Unwound+f.Lost != f.Calls {
		t.Errorf("panics was named: %d calls, %d unwound, %d lost", f.Calls, f.Unwound, f.Lost)
	}
	if f := o.functions["main.fib"]; f.Completed == 0 {
		t.Errorf("fib: %d calls, none timed", f.Calls)
	}
	if !strings.Contains(r.stderr, "counted at first") {
		t.Errorf("not told:\n%s", r.stderr)
	}
}

// TestKernelCountFirstExact: counts of everything that makes counting hard.
func TestKernelCountFirstExact(t *testing.T) {
	needsAppend(t)
	o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "exact"), []string{"*"})
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	booked(t, o, b)
	if len(b.Functions) < 50 {
		t.Errorf("the target told of %d functions", len(b.Functions))
	}
}

// TestKernelMaxRateInterval: intervals add up to the whole.
func TestKernelMaxRateInterval(t *testing.T) {
	tracetest.Kernel(t)
	fixture.NeedLong(t)
	target := fixture.Build(t, "rates")
	r := ftgo(t, "probe", "-i", "0.2", "--max-rate", "1000", "-o", "tsv", target, "main.*", "--", target, "-for", "3s")
	if r.code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	var calls, counted, completed, intervals int
	for line := range strings.Lines(r.stdout) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if cells[0] != "main.slow" {
			continue
		}
		var n [3]int
		for i, at := range [...]int{1, 2, len(cells) - 2} {
			if _, err := fmt.Sscan(cells[at], &n[i]); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
		}
		calls, completed, counted, intervals = calls+n[0], completed+n[1], counted+n[2], intervals+1
	}
	if intervals < 4 || completed == 0 || counted == 0 || calls < completed {
		t.Errorf("%d intervals: %d calls, %d completed, %d only counted\n%s", intervals, calls, completed, counted, r.stdout)
	}
}

// TestKernelMaxRateAttach: with -p calls of others are not counted.
func TestKernelMaxRateAttach(t *testing.T) {
	tracetest.Kernel(t)
	fixture.NeedLong(t)
	path := fixture.Build(t, "server")
	target, _ := server(t, path), server(t, path)
	p := tracer(t, "probe", "-o", "json", "--max-rate", "1000", "-p", fmt.Sprint(target.Process.Pid), "main.tick")
	time.Sleep(4 * time.Second) // several times what looking at rates and adding returns takes
	p.Process.Signal(syscall.SIGINT)
	if code := p.end(t); code != 0 {
		t.Errorf("status %d\n%s", code, p.err.String())
	}
	o := readObserved(t, p.out.String())
	b := target.books(t)
	if f := o.functions["main.tick"]; f.Completed == 0 || f.CountedOnly == 0 || f.Calls > uint64(b.Functions["main.tick"].Calls) {
		t.Errorf("tick: %+v, want some of %+v", f, b.Functions["main.tick"])
	}
	booked(t, o, books{})
}

// TestKernelTimingEnded ends runs at odd moments while probes are added, one way and the
// other.
func TestKernelTimingEnded(t *testing.T) {
	fixture.NeedLong(t)
	f := needsAppend(t)
	target := server(t, fixture.Build(t, "server"))
	for _, after := range []time.Duration{0, 90, 130, 170, 210, 300} {
		p := tracer(t, "probe", target.Path, "*")
		time.Sleep(after * time.Millisecond)
		p.Process.Signal(syscall.SIGINT)
		if code := p.end(t); code != 0 {
			t.Errorf("ended after %v ms: status %d\n%s", int(after), code, p.err.String())
		}
		nothingOf(t, f, p.Process.Pid)
	}
	killed := tracer(t, "probe", target.Path, "*")
	events := fmt.Sprintf("%s/instances/%s/events", f.Dir(), instanceOf(t, f.Dir(), killed.Process.Pid))
	// The first that time anything are on: "e" and a number.
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if late, _ := filepath.Glob(events + "/ftgo_*/r[1-9]*"); len(late) > 0 {
			break
		}
	}
	killed.Process.Kill()
	killed.Wait()
	if r := ftgo(t, "clean"); r.code != 0 {
		t.Errorf("clean: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	nothingOf(t, f, killed.Process.Pid)
	if b := target.books(t); b.Functions["main.tick"].Calls == 0 {
		t.Error("the target has come to harm")
	}
}

// instanceOf is the instance of a process with most events: the other measures costs.
func instanceOf(t *testing.T, dir string, pid int) string {
	t.Helper()
	found, most := "", -1
	names, err := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*", dir, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		events, _ := os.ReadDir(filepath.Join(name, "events", filepath.Base(name)))
		if len(events) > most {
			found, most = filepath.Base(name), len(events)
		}
	}
	if found == "" {
		t.Fatalf("no instance of process %d", pid)
	}
	return found
}
