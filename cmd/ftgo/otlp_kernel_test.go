package main

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/collector"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// exportSpans has the calls of functions sent, of one run of a program, and returns what a collector has got.
func exportSpans(t *testing.T, target string, funcs []string, args ...string) *collector.Collector {
	t.Helper()
	c := collector.New()
	defer c.Close()
	e := launch(t, append([]string{"export", "--otlp", c.URL, "--spans", "--budget", "0", target}, funcs...)...)
	e.await(t)
	executed(t, target, args...)
	e.Process.Signal(syscall.SIGTERM)
	e.endsWell(t)
	nothingOf(t, tracetest.Kernel(t), e.Process.Pid)
	if c.Failed != nil {
		t.Errorf("%v\n%s", c.Failed, e.err.String())
	}
	return c
}

// spawnFuncs are the functions of testdata/spawn that make the calls which tests know; main.middle,
// which starts a goroutine, is not among them.
var spawnFuncs = []string{"main.handle", "main.part", "main.leaf", "main.deep", "main.rest", "main.linger", "main.stay"}

// TestKernelSpans: 1,000 requests, of which each starts goroutines that start others, are 1,000 traces, each with all of
// its calls, below the right ones. The numbers that are sent agree.
func TestKernelSpans(t *testing.T) {
	tracetest.Kernel(t)
	const requests = 1000
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=requests")
	c := exportSpans(t, fixture.Build(t, "spawn"), spawnFuncs, "-n", fmt.Sprint(requests), "-linger", "7", "-stay", "11")
	want, stays := make(map[string]int), 0
	for i := range requests {
		shape := "handle("
		if i%7 == 0 {
			shape += "linger "
		}
		shape += "part(deep leaf) part(leaf) part(leaf)"
		if i%11 == 0 {
			shape += " stay"
			stays++
		}
		want[shape+")"]++
	}
	if got, err := collector.Shapes(c.Spans); fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
		t.Errorf("traces %v\nwant %v\n%v", got, want, err)
	}
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Service != "requests" || (s.Name == "main.stay") != (s.End == "open") || s.Name != "main.stay" && s.End != "" {
			t.Errorf("%+v", s)
		}
	}
	for function, calls := range map[string]int{"main.handle": requests, "main.part": 3 * requests, "main.stay": stays, "main.rest": 0} {
		if got := c.Values["ftgo.function.calls"][function]; got != float64(calls) {
			t.Errorf("%v calls of %s, want %d", got, function, calls)
		}
	}
	if timed := c.Values["ftgo.function.duration"]; len(timed) != len(spawnFuncs)-2 || timed["main.deep"] != requests { // main.rest is not called, and main.stay never returns
		t.Errorf("%v", timed)
	}
}

// TestKernelSpansErrors: calls that return an error have failed, and no others.
func TestKernelSpansErrors(t *testing.T) {
	tracetest.LongKernel(t)
	c := exportSpans(t, fixture.Build(t, "lookup"), []string{"main.lookup", "main.twice"})
	failed := 0
	for i := range c.Spans {
		if c.Spans[i].Failed {
			failed++
		}
	}
	shapes, err := collector.Shapes(c.Spans)
	if got := fmt.Sprint(shapes); got != "map[lookup:1007 twice(lookup lookup):1]" || err != nil || failed != 7 || c.Values["ftgo.function.errors"]["main.lookup"] != 7 {
		t.Errorf("%s, %v, %d errors, %v", got, err, failed, c.Values["ftgo.function.errors"])
	}
}
