package stats

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Totals are what a Histogram knows of all its latencies together, in ns. Sum is math.MaxInt64 where
// it is more.
type Totals struct{ Min, Max, Sum int64 }

// Totals are those of the latencies recorded.
func (h *Histogram) Totals() Totals { return Totals{h.min, h.max, h.Sum()} }

// Fine yields every bucket that is not empty, by the least latency that it takes, in ascending order.
func (h *Histogram) Fine(yield func(from int64, count uint64) bool) {
	for p, counts := range &h.page {
		if counts == nil {
			continue
		}
		for i, n := range counts {
			if n != 0 && !yield(least(p, i), n) {
				return
			}
		}
	}
}

// least returns the least value of a bucket.
func least(page, index int) int64 {
	if page < 2 {
		return int64(page*pageSize + index)
	}
	return int64(pageSize+index) << (page - 1)
}

// FineBucket is one that [Histogram.Fine] yields.
type FineBucket struct {
	From  int64
	Count uint64
}

// NewFine returns the Histogram of which these are the buckets, in ascending order, and these the
// totals. It is an error if there is no such Histogram.
func NewFine(buckets []FineBucket, of Totals) (*Histogram, error) {
	h := &Histogram{min: of.Min, max: of.Max}
	if len(buckets) == 0 {
		return nil, errors.New("no bucket")
	}
	// The sum is at least that of the buckets' least latencies.
	var hi, lo, carry uint64
	before := int64(-1)
	for _, b := range buckets {
		if b.From <= before {
			return nil, fmt.Errorf("bucket of %d behind that of %d", b.From, before)
		}
		before = b.From
		p, i := bucket(b.From)
		if least(p, i) != b.From {
			return nil, fmt.Errorf("bucket of %d: none begins there", b.From)
		}
		if h.count, carry = bits.Add64(h.count, b.Count, 0); b.Count == 0 || carry != 0 {
			return nil, fmt.Errorf("bucket of %d: %d latencies", b.From, b.Count)
		}
		if h.page[p] == nil {
			h.page[p] = new([pageSize]uint64)
		}
		h.page[p][i] = b.Count
		productHi, productLo := bits.Mul64(uint64(b.From), b.Count)
		lo, carry = bits.Add64(lo, productLo, 0)
		hi += productHi + carry
	}
	first, last := buckets[0].From, buckets[len(buckets)-1].From
	switch sum := uint64(of.Sum); {
	case of.Min < 0 || of.Min > of.Max || !sameBucket(of.Min, first):
		return nil, fmt.Errorf("min %d: not in the bucket of %d", of.Min, first)
	case !sameBucket(of.Max, last):
		return nil, fmt.Errorf("max %d: not in the bucket of %d", of.Max, last)
	case of.Sum < 0 || (hi > 0 || lo > sum) && of.Sum != math.MaxInt64:
		return nil, fmt.Errorf("sum %d: less than that of the buckets", of.Sum)
	case of.Sum == math.MaxInt64 && (hi > 0 || lo > sum):
		h.sumHi, h.sumLo = hi, lo // of more than there is a number for, this much is known
	default:
		h.sumLo = sum
	}
	return h, nil
}

// sameBucket tells whether two latencies are in one.
func sameBucket(a, b int64) bool {
	p, i := bucket(a)
	q, j := bucket(b)
	return p == q && i == j
}
