package stats

import (
	"math"
	"math/bits"
)

// Bucket counts the latencies in [From, To), in ns.
type Bucket struct {
	From, To int64
	Count    uint64
}

// Buckets returns the latencies counted in ranges that double in width: below
// 2 units, 2 to 4, 4 to 8 and so on, from the first range that holds any to the
// last, the empty ones between included. unit is in ns; with 1 the counts are
// exact, with others a latency within 1 % of an edge may be counted on its other
// side. To is math.MaxInt64 where the range ends beyond it.
func (h *Histogram) Buckets(unit int64) []Bucket {
	var counts [64]uint64
	h.each(func(page, index int, count uint64) bool {
		value := min(max(middle(page, index), h.min), h.max)
		counts[max(bits.Len64(uint64(value/unit)), 1)] += count
		return true
	})
	var buckets []Bucket
	empty := 0
	for i, n := range counts {
		if n == 0 {
			empty++
			continue
		}
		// Empty ranges count only once it is known that another follows.
		if buckets == nil {
			empty = 0
		}
		for j := i - empty; j <= i; j++ {
			buckets = append(buckets, Bucket{From: edge(j-1, unit), To: edge(j, unit), Count: counts[j]})
		}
		empty = 0
	}
	return buckets
}

// edge returns 1<<exponent units in ns; the first range starts at 0, not at one unit.
func edge(exponent int, unit int64) int64 {
	if exponent == 0 {
		return 0
	}
	if exponent >= 63 || unit > math.MaxInt64>>exponent {
		return math.MaxInt64
	}
	return unit << exponent
}
