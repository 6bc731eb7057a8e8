package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

func TestKernelLatency(t *testing.T) {
	tracetest.Kernel(t)
	// What probes cost is measured while the program begins, which may be a slow moment.
	tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
		o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "exact"), []string{"main.sleep5", "main.busy"})
		r.succeeded(t)
		sleep, inner := o.functions["main.sleep5"], b.Durations["main.sleep5"]
		// The shortest call is the one that was interrupted least between the two measurements.
		if low, high := float64(inner.Min)*0.95, float64(inner.Min)*1.25; float64(sleep.NS.Min) < low || float64(sleep.NS.Min) > high {
			wrong = append(wrong, fmt.Sprintf("sleep5: minimum %d ns, the target itself measured %d", sleep.NS.Min, inner.Min))
		}
		busy := o.functions["main.busy"]
		if busy.NS.Min < b.Durations["main.busy"].Min {
			wrong = append(wrong, fmt.Sprintf("busy: minimum %d ns is below what the target measured inside, %d", busy.NS.Min, b.Durations["main.busy"].Min))
		}
		// Were time stamps cut to microseconds, as text has those of other clocks, all three would be whole.
		if strings.Contains(r.stderr, "(clock "+tracefs.Counter+")") && busy.NS.Min%1000 == 0 && busy.NS.Max%1000 == 0 && sleep.NS.Max%1000 == 0 {
			t.Errorf("latencies %d, %d, %d are quantised", busy.NS.Min, busy.NS.Max, sleep.NS.Max)
		}
		return wrong
	})
}

// TestKernelFlood loses events on purpose: a ring buffer of a page or two under two
// busy loops. The calls must be right all the same, and the books balance.
func TestKernelFlood(t *testing.T) {
	tracetest.LongKernel(t)
	o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "flood"), []string{"--buffer", "8K", "main.framed", "main.leaf"}, "-n", "20011")
	r.succeeded(t)
	s := o.summary
	if s.Lost == 0 {
		t.Error("nothing was lost: the test tests nothing")
	}
	if s.Delivered+s.Lost != s.Hits || s.Before+s.After != 0 {
		t.Errorf("delivered %d + lost %d is not hits %d; %d before, %d after", s.Delivered, s.Lost, s.Hits, s.Before, s.After)
	}
	for name, want := range b.Functions {
		f := o.functions[name]
		if f.Calls < want.Calls || f.Calls > want.Calls+f.Unsure {
			t.Errorf("%s: %d calls, want %d", name, f.Calls, want.Calls)
		}
		if f.Completed+f.Unwound+f.Open+f.Lost != f.Calls || f.Lost == 0 {
			t.Errorf("%s: %d completed, %d unwound, %d open, %d lost do not make %d calls", name, f.Completed, f.Unwound, f.Open, f.Lost, f.Calls)
		}
		if f.Unwound != 0 {
			t.Errorf("%s: %d calls unwound, though their returns were only lost", name, f.Unwound)
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

func TestKernelWholeGoTool(t *testing.T) {
	needsAppend(t)
	// A copy: others may be running the original. It only wants to see a GOROOT.
	goTool := fixture.GoCommand(t)
	t.Setenv("GOROOT", t.TempDir())
	t.Setenv("GOTOOLCHAIN", "local")
	// Or it starts itself anew, to see to its telemetry.
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	noError(t, os.MkdirAll(config+"/go/telemetry", 0o755))
	fixture.Write(t, config+"/go/telemetry/mode", "off")
	r := ran(t, "count", "--wrappers", "-o", "json", goTool, "*", "--", goTool, "version")
	o := readObserved(t, r.stdout)
	if o.summary.Functions < 14000 {
		t.Errorf("%d functions, want more than 14,000", o.summary.Functions)
	}
	if n := len(o.summary.Skipped); n*200 > o.summary.Functions {
		t.Errorf("%d functions skipped: more than 0.5%%", n)
	}
	if o.functions["main.main"].Calls != 1 {
		t.Errorf("main.main: %d calls, want 1", o.functions["main.main"].Calls)
	}
}
