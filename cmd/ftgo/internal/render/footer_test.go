package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
)

func TestFooterGolden(t *testing.T) {
	var skipped []stats.Skipped
	for i := range 8 {
		skipped = append(skipped, stats.Skipped{Function: fmt.Sprintf("main.f%d", i), Reason: "undecodable byte at +0x1a"})
	}
	probe := stats.Summary{Hits: 30002, Delivered: 30002, Seconds: 10, Clock: "x86-tsc", LatencyMeasured: true, HitCost: 11600.4}
	lossy := probe
	lossy.Hits, lossy.Delivered, lossy.Lost, lossy.Unparsed, lossy.Skipped = 900000, 504440, 395560, 1, skipped
	noted := probe
	noted.Skipped = []stats.Skipped{{Function: "main.exit", Reason: "no return site"}}
	first := probe
	first.CountFirst, first.Counted = true, 20000
	limited := first
	limited.MaxRate = 1000
	for _, test := range []struct {
		name string
		rows []stats.Row
		s    stats.Summary
	}{
		{"counted first", countedFirst(), first},
		{"counted by rate", countedFirst(), limited},
		{"ordinary", ordinary(), probe},
		{"eventful", eventful(), lossy},
		{"function both skipped and noted", eventful(), noted},
		{"counted of one process", nil, stats.Summary{Hits: 900, Delivered: 900, Seconds: 2, Streamed: true}},
		{"counted, and some lost", nil, stats.Summary{Hits: 900, Delivered: 890, Lost: 10, Before: 1, After: 3, Pass: 2 * time.Millisecond, Seconds: 2, Streamed: true}},
		{"counted, and one lost", nil, stats.Summary{Hits: 900, Delivered: 899, Lost: 1, Seconds: 2, Streamed: true}},
		{"never hit", nil, stats.Summary{Seconds: 0.5, LatencyMeasured: true, Clock: "x86-tsc"}},
		{"count", ordinary(), stats.Summary{Hits: 900000007, Seconds: 10, HitCost: 812}},
		{"one hit", ordinary()[3:4], stats.Summary{Hits: 1, Delivered: 1, Seconds: 3, LatencyMeasured: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, "footer-"+strings.ReplaceAll(test.name, " ", "-"), func(w *bytes.Buffer) error { return Footer(w, test.rows, test.s) })
		})
	}
}

// countedFirst is a function timed late, one never, some left to counting for their rates,
// and one that can't be timed.
func countedFirst() []stats.Row {
	rows := ordinary()[:2]
	rows[0].Calls += 197
	rows[0].CountedOnly = 197
	for i, f := range []stats.Function{
		{Name: "main.init", Calls: 1, CountedOnly: 1},
		{Name: "main.exit", Calls: 1, CountedOnly: 1, Note: "has no return: only its calls are counted"},
		{Name: "main.hot", Calls: 2_000_000, CountedOnly: 2_000_000, TooOften: 123_456.7},
		{Name: "main.warm", Calls: 9_000, CountedOnly: 9_000, TooOften: 1_234.5},
		{Name: "main.\x1b[31m", Calls: 9_000, CountedOnly: 9_000, TooOften: 1_300},
		{Name: "main.hotter", Calls: 9_000_000, CountedOnly: 9_000_000, TooOften: 1_300_000},
	} {
		f.Latency = &stats.Histogram{}
		if i == 3 {
			f.Latency.Record(1500)
			f.Calls, f.Completed = f.Calls+1, 1
		}
		rows = append(rows, stats.NewRow(f, 10))
	}
	return rows
}

func TestCountedGolden(t *testing.T) {
	for _, f := range []Format{Table, JSON, CSV} {
		golden(t, "counted-"+f.String(), func(w *bytes.Buffer) error {
			return Functions(w, f, countedFirst(), Options{Latency: true, CountFirst: true})
		})
	}
}
