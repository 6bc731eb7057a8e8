package stats

import (
	"math"
	"math/bits"
	"slices"
	"testing"
)

func TestLog2(t *testing.T) {
	l := NewLog2([64]uint64{}, 0, 0)
	if l.Mean() != 0 || l.Quantile(0.5) != 0 || l.Buckets(1) != nil {
		t.Errorf("nothing: mean %d, p50 %d, %v", l.Mean(), l.Quantile(0.5), l.Buckets(1))
	}
	// 2 of at most 1 ns, 5 of 5 to 8, 3 of 33 to 64.
	l = NewLog2([64]uint64{0: 2, 3: 5, 6: 3}, 10, 205)
	if l.Mean() != 20 || l.Count() != 10 || l.Sum() != 205 {
		t.Errorf("mean %d of %d, sum %d", l.Mean(), l.Count(), l.Sum())
	}
	for q, want := range map[float64]int64{0: 1, 0.2: 1, 0.21: 8, 0.5: 8, 0.7: 8, 0.71: 64, 0.99: 64, 1: 64} {
		if got := l.Quantile(q); got != want {
			t.Errorf("%v of latencies are at most %d, not %d", q, got, want)
		}
	}
	want := []Bucket{{0, 2, 2}, {2, 3, 0}, {3, 5, 0}, {5, 9, 5}, {9, 17, 0}, {17, 33, 0}, {33, 65, 3}}
	if got := l.Buckets(1); !slices.Equal(got, want) {
		t.Errorf("buckets %v", got)
	}
	since := NewLog2([64]uint64{0: 2, 3: 7, 6: 3}, 12, 215).Since(l.Since(nil))
	if since.Count() != 2 || since.Mean() != 5 || since.Quantile(1) != 8 || since.Quantile(0) != 8 {
		t.Errorf("since: %+v", since)
	}
}

func TestLog2Largest(t *testing.T) {
	l := NewLog2([64]uint64{63: 1}, 1, math.MaxUint64)
	if l.Quantile(1) != math.MaxInt64 || l.Mean() != math.MaxInt64 {
		t.Errorf("at most %d, mean %d", l.Quantile(1), l.Mean())
	}
	if b := l.Buckets(1); len(b) != 1 || b[0].From != 1<<62+1 || b[0].To != math.MaxInt64 {
		t.Errorf("buckets %v", b)
	}
}

// TestAtMost: both kinds of latencies count those that do not exceed a bound.
func TestAtMost(t *testing.T) {
	var h Histogram
	var counts [64]uint64
	for ns := int64(1); ns <= 1000; ns++ {
		h.Record(ns)
		counts[bits.Len64(uint64(ns-1))]++
	}
	l := NewLog2(counts, 1000, 0)
	for _, c := range []struct {
		ns           int64
		low, high, l uint64 // of h, and exactly of l
	}{{0, 0, 0, 0}, {1, 1, 1, 1}, {100, 100, 100, 64}, {500, 495, 505, 256}, {512, 507, 517, 512}, {1000, 1000, 1000, 512}, {1 << 62, 1000, 1000, 1000}} {
		if n := h.AtMost(c.ns); n < c.low || n > c.high {
			t.Errorf("%d of a Histogram are at most %d, want %d to %d", n, c.ns, c.low, c.high)
		}
		if n := l.AtMost(c.ns); n != c.l {
			t.Errorf("%d of a Log2 are at most %d, want %d", n, c.ns, c.l)
		}
	}
}
