package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// topRow returns the row of a timed function. change, unless it is nil, changes the row.
func topRow(calls uint64, change func(*stats.Func)) stats.Func {
	f := stats.Func{Name: "main.f", Calls: calls, Completed: calls, Latency: &stats.Histogram{}, Self: 400}
	for range calls {
		f.Time(stats.Timing{Raw: 1500, Net: 1000, Low: 800, High: 1200, Known: true})
	}
	if change != nil {
		change(&f)
	}
	return f.Over(2)
}

// sampled returns a change that estimates the number of all calls of a row.
func sampled(calls float64) func(*stats.Func) {
	return func(f *stats.Func) { f.Estimate = &stats.Estimate{Calls: calls, Low: calls / 2, High: 2 * calls} }
}

// TestTopCells checks the marks of estimated and unknown numbers.
func TestTopCells(t *testing.T) {
	for _, test := range []struct {
		name          string
		whole, recent stats.Func
		want          string
	}{
		{"timed", topRow(10, nil), topRow(4, nil), "10 2.00 10.0µs 400ns 1.00µs 1.00µs - -"},
		{"errors", topRow(10, func(f *stats.Func) { f.ReturnsErrors, f.Errors = true, 3 }), topRow(0, nil), "10 0 10.0µs 400ns 1.00µs 1.00µs 3 -"},
		{"only counted", topRow(0, func(f *stats.Func) { f.Calls, f.CountedOnly = 7, 7 }), topRow(0, nil), "7 0 - - - - - -"},
		{"lost", topRow(2, func(f *stats.Func) { f.Lost = 1 }), topRow(0, nil), "2 0 2.00µs 400ns ~1.00µs 1.00µs - -"},
		{"probes may be all", topRow(2, func(f *stats.Func) { f.Bounds.Low = stats.Histogram{} }), topRow(0, nil), "2 0 3.00µs - <1.50µs 1.50µs - -"},
		{"not seen all the time", topRow(8, sampled(16)), topRow(0, sampled(8)), "≈16 ≈8.00 16.0µs 800ns 1.00µs 1.00µs - 8"},
		{"not called", topRow(0, nil), topRow(0, nil), "0 0 - - - - - -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			cells := TopCells(test.whole, test.recent, false)
			for _, c := range cells {
				if c.Text == "" {
					c.Text = "-"
				}
				got = append(got, c.Text)
			}
			if text := strings.Join(got, " "); text != test.want || len(cells) != len(TopColumns(false)) {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
			if with := TopCells(test.whole, test.recent, true); len(with) != len(TopColumns(true)) {
				t.Errorf("%d cells with waits, of %d columns", len(with), len(TopColumns(true)))
			}
		})
	}
}

// TestTopCost checks that the line starts with the cost in the last interval, which is never negative.
func TestTopCost(t *testing.T) {
	probing := func(ns, cpu float64) *stats.Probing { return &stats.Probing{NS: ns, CPU: cpu} }
	for _, test := range []struct {
		of     stats.Summary
		before *stats.Probing
		want   string
	}{
		{stats.Summary{}, nil, "the cost of probes is not known yet"},
		{stats.Summary{Budget: 0.15, Seconds: 2, OwnCPU: time.Second}, nil, "the cost of probes is not known yet, budget 15%, ftgo 50%"},
		{stats.Summary{Probing: probing(1e8, 1e9)}, nil, "probes take 10% of its CPU time"},
		{stats.Summary{Probing: probing(3e8, 2e9), Budget: 0.25}, probing(1e8, 1e9), "probes take 20% of its CPU time, since the start 15%, budget 25%"},
		{stats.Summary{Probing: probing(3e8, 2e9)}, probing(4e8, 1e9), "probes take 0% of its CPU time, since the start 15%"},
		{stats.Summary{Probing: &stats.Probing{NS: 1e8, CPU: 1e9, Others: 5e6}, Lost: 3}, nil, "probes take 10% of its CPU time, and 5.00ms of other processes'; 3 events lost"},
	} {
		if got := TopCost(&test.of, test.before); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestTopNumbers checks the line of numbers and the line of split latencies of the function on the page.
func TestTopNumbers(t *testing.T) {
	whole := topRow(4, func(f *stats.Func) {
		f.Unwound, f.Split, f.Waits = 2, stats.Split{Running: 1000, Runnable: 1000, Waiting: 2000}, stats.Waits{"chan receive": 2000}
		sampled(8)(f)
	})
	numbers, split := TopNumbers(whole, whole)
	got := fmt.Sprintf("%s\n%s", numbers, split)
	const want = "8 calls, 4.00/s  p50 1.00µs  p90 1.00µs  p99 1.00µs  max 1.00µs  an estimate, 4 timed  2 unwound\n" +
		"running 25%, runnable 25%, waiting 50%: chan receive"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, split := TopNumbers(topRow(1, nil), topRow(1, nil)); split != "" {
		t.Errorf("split of nothing: %s", split)
	}
}
