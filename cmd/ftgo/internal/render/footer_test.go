package render

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

func TestFooterGolden(t *testing.T) {
	var skipped []stats.Skipped
	for i := range 8 {
		skipped = append(skipped, stats.Skipped{Function: fmt.Sprintf("main.f%d", i), Reason: "undecodable byte at +0x1a"})
	}
	probe := stats.Summary{Hits: 30002, Delivered: 30002, Seconds: 10, Clock: "x86-tsc", LatencyMeasured: true, Probing: probing(3e9)}
	lossy := probe
	lossy.Hits, lossy.Delivered, lossy.Lost, lossy.Unparsed, lossy.Skipped = 900000, 504440, 395560, 1, skipped
	noted := probe
	noted.Skipped = []stats.Skipped{{Function: "main.exit", Reason: "no return site"}}
	beside := probe
	beside.OwnCPU = 320 * time.Millisecond
	withBudget := beside
	withBudget.Budget, withBudget.Before, withBudget.Pass = 0.05, 3, time.Second
	for _, test := range []struct {
		name string
		rows []stats.Func
		s    stats.Summary
	}{
		{"budget", budgeted(), withBudget},
		{"ordinary", ordinary(), probe},
		{"eventful", eventful(), lossy},
		{"function both skipped and noted", eventful(), noted},
		{"hits at stack checks lost", []stats.Func{{Name: "main.f", Calls: 9, Completed: 5, Unsure: 2}}, stats.Summary{Hits: 18, Delivered: 14, Lost: 4, Seconds: 2, LatencyMeasured: true, Streamed: true}},
		{"counted, and some lost", nil, stats.Summary{Hits: 900, Delivered: 890, Lost: 10, Before: 1, After: 3, Pass: 2 * time.Millisecond, Seconds: 2, Streamed: true}},
		{"not hit", nil, stats.Summary{Seconds: 2, LatencyMeasured: true, Probing: &stats.Probing{Emulated: 640, Stepped: 4900, CPU: 1e9}}},
		{"corrected", corrected(), stats.Summary{Hits: 14, Delivered: 14, Seconds: 2, LatencyMeasured: true}},
		{"as seen", corrected(), stats.Summary{Hits: 14, Delivered: 14, Seconds: 2, LatencyMeasured: true, RawLatencies: true}},
		{"not hit since", nil, stats.Summary{Seconds: 2, LatencyMeasured: true, NoCallsReason: "no process runs /bin/\x1bserver"}},
		{"no call", nil, stats.Summary{Seconds: 2, Hits: 3, Delivered: 3, LatencyMeasured: true, NoCallsReason: "process 7 called none of these functions"}},
		{"count", ordinary(), stats.Summary{Hits: 900000007, Seconds: 10, Probing: &stats.Probing{Emulated: 612, Stepped: 8120, NS: 5.5e8}}},
		{"a pair", ordinary()[:1], stats.Summary{Hits: 30, Delivered: 29, Lost: 1, Seconds: 2, LatencyMeasured: true, Pairs: &stats.Pairs{Arrived: 9, NotArrived: 1, Again: 2, Forgotten: 3, Late: 1, Twice: 4, Before: 5, Unread: 6, Outdated: true}}},
		{"one hit", ordinary()[3:4], stats.Summary{Hits: 1, Delivered: 1, Seconds: 3, LatencyMeasured: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, "footer-"+strings.ReplaceAll(test.name, " ", "-"), func(w *bytes.Buffer) error { return Footer(w, test.rows, test.s) })
		})
	}
}

// probing returns the cost of probes for a program that used some CPU time, in nanoseconds.
func probing(cpu float64) *stats.Probing {
	p := &stats.Probing{Emulated: 640.4, Stepped: 4900, NS: 1.3e9, Low: 9e8, High: 1.9e9, Others: 2e6, CPU: cpu}
	for i, ns := range []float64{1e8, 9e8, 3.1e8} {
		p.Add(fmt.Sprintf("main.f%d", i), ns)
	}
	return p
}

// changing is the cost of probes that were placed and removed repeatedly, and read through nil pointers.
var changing = &stats.Probing{
	Emulated: 640, Stepped: 4900, Change: 2450, Changes: 10_304, Fault: 571.2, Faults: 1_234_567, NS: 1.1e8, Low: 1e8, High: 1.2e8, CPU: 1e10,
}

// budgeted returns a function that was traced all the time, one that was traced for part of it, one without an upper bound
// of its calls, and one whose calls mostly did not end while it was traced.
func budgeted() []stats.Func {
	rows := ordinary()[:1]
	for _, f := range []stats.Func{
		{Name: "main.warm", Calls: 9_007, CountedOnly: 8_000, Completed: 1000, Open: 7, Estimate: &stats.Estimate{Calls: 91_000.4, Low: 85_000.2, High: 97_000.7}},
		{Name: "main.\x1b[31m", Calls: 31_000, CountedOnly: 11_000, Completed: 20_000, Estimate: &stats.Estimate{Calls: 2.9e6, Low: 41_000, High: math.Inf(1)}},
		{Name: "main.long", Calls: 300, CountedOnly: 280, CutShort: 270, Completed: 20, Estimate: &stats.Estimate{Calls: 3000, Low: 2000, High: 4000}},
	} {
		f.Latency = &stats.Histogram{}
		for i := range f.Completed {
			f.Time(stats.Timing{Raw: 6500, Net: 1500 + int64(i%3), Low: 1000, High: 2000, Known: true})
		}
		rows = append(rows, f.Over(10))
	}
	return rows
}

// corrected returns functions whose latencies have a small correction, a correction larger than some net latency, and a
// correction that may be the whole latency.
func corrected() []stats.Func {
	var rows []stats.Func
	for i, f := range []struct {
		name    string
		timings []stats.Timing
	}{
		{"main.long", []stats.Timing{{Raw: 1_020_000, Net: 1_000_000, Low: 990_000, High: 1_005_000}, {Raw: 9_020_000, Net: 9_000_000, Low: 8_990_000, High: 9_005_000}}},
		{"main.half", []stats.Timing{{Raw: 30_000, Net: 12_000, Low: 5_000, High: 18_000}, {Raw: 60_000, Net: 42_000, Low: 30_000, High: 48_000}}},
		{"main.short", []stats.Timing{{Raw: 5_100, Net: 150, Low: 0, High: 1_400}, {Raw: 9_000, Net: 4_050, Low: 2_000, High: 5_300}}},
		{"main.unknown", []stats.Timing{{Raw: 700, Net: 700, High: 700}}},
	} {
		row := stats.Func{Name: f.name, Calls: uint64(len(f.timings)), Completed: uint64(len(f.timings)), Latency: &stats.Histogram{}}
		for _, t := range f.timings {
			t.Known = i < 3
			row.Time(t)
		}
		rows = append(rows, row.Over(2))
	}
	return rows
}
