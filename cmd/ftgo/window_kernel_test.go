package main

import (
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelWatchInterval reads once per interval, with the change per second.
func TestKernelWatchInterval(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "greet")
	began := time.Now()
	ftgo(t, "count", "-d", "1ms", target, "main.add")
	// Out of one interval the probe is for what is left when it has been taken out, which takes as long
	// as the machine is busy.
	interval := max(700*time.Millisecond, 3*time.Since(began))
	r := ftgo(t, "watch", "-o", "json", "-i", interval.String(), "-n", "4", "--at", "main.add", target, "main.counter", "--", target, "-n", "100000", "-every", "1ms")
	lines := jsonLines(t, r.stdout, "variable")
	if len(lines) != 4 {
		t.Fatalf("status %d, %d lines\n%s%s", r.code, len(lines), r.stdout, r.stderr)
	}
	for i, l := range lines {
		rate, has := l["per_second"].(float64)
		if has != (i > 0) || has && (rate <= 0 || rate > 1100) {
			t.Errorf("line %d: %v", i, l)
		}
	}
	s := jsonLines(t, r.stdout, "summary")[0]
	if last := lines[3]["value"].(float64); s["hits"].(float64) > 0.8*last {
		t.Errorf("%v hits of %v calls: the probe was not taken out", s["hits"], last)
	}
}
