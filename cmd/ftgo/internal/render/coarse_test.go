package render

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
)

// coarse are rows as the kernel's histograms make them.
func coarse() []stats.Coarse {
	fast := stats.Coarse{Name: "main.fast", Calls: 1009, Completed: 1009, Sum: 1009 * 700}
	fast.Log2[10], fast.Log2[9], fast.Log2[14] = 900, 100, 9
	panics := stats.Coarse{Name: "main.(*T).panics", Calls: 11}
	lossy := stats.Coarse{Name: "main.deep", Calls: 2003, Completed: 1201, Sum: 1201 * 2_000_000}
	lossy.Log2[21] = 1201
	fast.Settle(2, false)
	panics.Settle(2, false)
	lossy.Settle(2, true)
	return []stats.Coarse{lossy, fast, panics}
}

func TestCoarse(t *testing.T) {
	for name, f := range map[string]Format{"coarse.table": Table, "coarse.json": JSON, "coarse.csv": CSV} {
		golden(t, name, func(b *bytes.Buffer) error { return Coarse(b, f, coarse(), Options{}) })
	}
	golden(t, "coarse-narrow.table", func(b *bytes.Buffer) error {
		return Coarse(b, Table, coarse()[1:2], Options{Width: 60, NoHeader: true})
	})
	golden(t, "coarse.hist", func(b *bytes.Buffer) error { return CoarseHistograms(b, coarse()) })
	golden(t, "coarse.footer", func(b *bytes.Buffer) error {
		return CoarseFooter(b, coarse(), stats.Summary{
			Hits: 5243, Delivered: 4000, Lost: 1243, Clock: "mono", LatencyMeasured: true, Seconds: 2,
			Skipped: []stats.Skipped{{Function: "runtime.mallocgc", Reason: "of package runtime"}},
		})
	})
}

func TestCoarseBrokenWriter(t *testing.T) {
	for _, f := range []Format{Table, JSON, CSV} {
		if err := Coarse(brokenWriter{}, f, coarse(), Options{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if err := CoarseHistograms(brokenWriter{}, coarse()); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := CoarseFooter(brokenWriter{}, nil, stats.Summary{}); !errors.Is(err, errBroken) {
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
