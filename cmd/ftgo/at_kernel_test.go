package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelAt: what is called before --at counts for nothing, though the probes are in place; what is
// called later all counts.
func TestKernelAt(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "family")
	for _, command := range []string{"probe", "raw probe", "count", "count --by pid", "trace"} {
		t.Run(command, func(t *testing.T) {
			// The calls of before must be over by then; where they were not, once more with more time.
			for wait := 3 * time.Second; !calledAround(t, readBy(t, strings.Fields(command)), target, wait); wait *= 2 {
				if wait > time.Minute {
					t.Fatal("three calls take a minute")
				}
			}
		})
	}
	nothingOf(t, f, os.Getpid())
}

// calledAround has a program call a function thrice before ftgo begins to measure, and five times later,
// and tells whether that was so.
func calledAround(t *testing.T, command []string, target string, wait time.Duration) bool {
	m := family(t, target, "stdin", "work=3", "stdin", "work=5", "stdin")
	step := func() {
		t.Helper()
		if line := m.tell(t); !strings.HasPrefix(line, "ready") {
			t.Fatalf("%q", line)
		}
	}
	at := time.Now().Add(wait)
	p := launch(t, append(command, "--at", at.Format(time.RFC3339Nano), "-o", "json", "-p", m.pid(), "main.work")...)
	for line := ""; !strings.Contains(line, "the probes are in place: measuring begins at "); p.err.WriteString(line) {
		var err error
		if line, err = p.lines.ReadString('\n'); err != nil && !time.Now().Before(at) {
			p.end(t)
			return false // it came too late
		} else if err != nil {
			t.Fatalf("it ended: %s", p.err.String())
		}
		if strings.Contains(line, " late: measuring begins now") {
			p.Process.Kill()
			p.end(t)
			return false
		}
	}
	step()
	if !time.Now().Before(at) {
		p.Process.Kill()
		p.end(t)
		return false
	}
	p.await(t)
	if time.Now().Before(at) {
		t.Error("it begins before the time")
	}
	step()
	p.interrupted(t)
	out := p.out.String()
	if command[0] == "trace" {
		if n := strings.Count(out, `"type":"call"`); n != 5 {
			t.Errorf("%d calls, want 5\n%s", n, out)
		}
		return true
	}
	o := readObserved(t, out)
	if n := o.functions["main.work"].Calls; n != 5 || o.summary.Delivered+o.summary.Lost != o.summary.Hits {
		t.Errorf("%d calls, want 5\n%s", n, out)
	}
	_, rest, _ := strings.Cut(out, `"began":"`)
	text, _, _ := strings.Cut(rest, `"`)
	if began, err := time.Parse(time.RFC3339Nano, text); err != nil || began.Before(at) {
		t.Errorf("it began at %q (%v), before %v", text, err, at)
	}
	return true
}
