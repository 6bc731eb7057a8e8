package render

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
)

// bucketed are rows as the kernel's histograms make them.
func bucketed() []stats.Row {
	row := func(name string, calls, completed, mean uint64, counts map[int]uint64) stats.Row {
		var log2 [64]uint64
		for k, n := range counts {
			log2[k] = n
		}
		l := stats.NewLog2(log2, completed, completed*mean)
		f := stats.Function{Name: name, Calls: calls, Completed: completed, Unfinished: calls - completed, Latency: l}
		return stats.NewRow(f, 2)
	}
	lossy := row("main.deep", 2003, 1201, 2_000_000, map[int]uint64{21: 1201})
	lossy.Lost, lossy.Unfinished = lossy.Unfinished, 0
	return []stats.Row{lossy, row("main.fast", 1009, 1009, 700, map[int]uint64{10: 900, 9: 100, 14: 9}), row("main.(*T).panics", 11, 0, 0, nil)}
}

func TestBucketed(t *testing.T) {
	o := Options{Latency: true, Bucketed: true}
	for name, f := range map[string]Format{"coarse.table": Table, "coarse.json": JSON, "coarse.csv": CSV} {
		golden(t, name, func(b *bytes.Buffer) error { return Functions(b, f, bucketed(), o) })
	}
	golden(t, "coarse-narrow.table", func(b *bytes.Buffer) error {
		return Functions(b, Table, bucketed()[1:2], Options{Latency: true, Bucketed: true, Width: 60})
	})
	golden(t, "coarse.hist", func(b *bytes.Buffer) error { return Histograms(b, bucketed(), Options{Hist: true, Bucketed: true}) })
	summary := stats.Summary{
		Hits: 5243, Delivered: 4000, Lost: 1243, Clock: "mono", LatencyMeasured: true, Bucketed: true, Seconds: 2,
		Skipped: []stats.Skipped{{Function: "runtime.mallocgc", Reason: "of package runtime"}},
	}
	golden(t, "coarse.footer", func(b *bytes.Buffer) error { return Footer(b, bucketed(), summary) })
	if err := Histograms(brokenWriter{}, bucketed(), Options{Hist: true}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestAtMost(t *testing.T) {
	for ns, want := range map[int64]string{
		1: "≤1ns", 512: "≤512ns", 1024: "≤1.03µs", 2048: "≤2.05µs", 8192: "≤8.20µs", 16384: "≤16.4µs", 131072: "≤132µs",
		1 << 20: "≤1.05ms", 1 << 30: "≤1.08s", 1000: "≤1.00µs", math.MaxInt64: "≤2.56Mh",
	} {
		if got := atMost(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
