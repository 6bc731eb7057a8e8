package stats

import (
	"math"
	"slices"
	"testing"
)

func TestCoarse(t *testing.T) {
	var c Coarse
	if c.Mean() != 0 || c.AtMost(0.5) != 0 || c.Buckets() != nil {
		t.Errorf("nothing: mean %d, p50 %d, %v", c.Mean(), c.AtMost(0.5), c.Buckets())
	}
	// 2 of at most 1 ns, 5 of 5 to 8, 3 of 33 to 64.
	c = Coarse{Calls: 13, Completed: 10, Sum: 205}
	c.Log2[0], c.Log2[3], c.Log2[6] = 2, 5, 3
	if c.Mean() != 20 {
		t.Errorf("mean %d", c.Mean())
	}
	for q, want := range map[float64]int64{0: 1, 0.2: 1, 0.21: 8, 0.5: 8, 0.7: 8, 0.71: 64, 0.99: 64, 1: 64} {
		if got := c.AtMost(q); got != want {
			t.Errorf("%v of latencies are at most %d, not %d", q, got, want)
		}
	}
	want := []Bucket{{0, 2, 2}, {2, 3, 0}, {3, 5, 0}, {5, 9, 5}, {9, 17, 0}, {17, 33, 0}, {33, 65, 3}}
	if got := c.Buckets(); !slices.Equal(got, want) {
		t.Errorf("buckets %v", got)
	}
	c.Settle(2, false)
	if c.Unfinished != 3 || c.Lost != 0 || c.Rate != 6.5 {
		t.Errorf("unfinished %d, lost %d, rate %v", c.Unfinished, c.Lost, c.Rate)
	}
	c.Settle(0, true)
	if c.Unfinished != 0 || c.Lost != 3 || c.Rate != 0 {
		t.Errorf("unfinished %d, lost %d, rate %v", c.Unfinished, c.Lost, c.Rate)
	}
	earlier := c
	c.Calls, c.Completed, c.Sum, c.Log2[3] = 20, 12, 215, 7
	since := c.Since(earlier)
	if since.Calls != 7 || since.Completed != 2 || since.Mean() != 5 || since.AtMost(1) != 8 || since.AtMost(0) != 8 {
		t.Errorf("since: %+v", since)
	}
}

func TestCoarseLargest(t *testing.T) {
	var c Coarse
	c.Log2[63], c.Completed, c.Sum = 1, 1, math.MaxUint64
	if c.AtMost(1) != math.MaxInt64 || c.Mean() != math.MaxInt64 {
		t.Errorf("at most %d, mean %d", c.AtMost(1), c.Mean())
	}
	if b := c.Buckets(); len(b) != 1 || b[0].From != 1<<62+1 || b[0].To != math.MaxInt64 {
		t.Errorf("buckets %v", b)
	}
}
