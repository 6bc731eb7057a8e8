package stats

import (
	"math"
	"math/bits"
)

// A power of two is divided into 1<<subBits buckets. With 64 of them a bucket is
// at most 1/64 of its values wide, so its middle is within 1/128 (0.8 %) of each.
const (
	subBits  = 6
	pageSize = 1 << subBits
	// Values below 2*pageSize have buckets of their own and fill pages 0 and 1;
	// every further bit of an int64's 63 takes one page more.
	pages = 63 - subBits + 1
)

// Histogram holds latencies in nanoseconds. Count, Sum, Mean and the extremes are
// exact, quantiles are within 1 %. The zero value is empty and ready to use.
//
// Buckets come in pages of one power of two, allocated when first hit: a function
// whose latencies spread over a factor of 1000 takes about 6 kB. Not safe for
// concurrent use.
type Histogram struct {
	count    uint64
	min, max int64
	// The sum has 128 bits: ten thousand blocked goroutines add up to the 292
	// years of an int64 within eleven days.
	sumHi, sumLo uint64
	page         [pages]*[pageSize]uint64
}

// Record adds one latency in ns. A negative one can only come from a clock that
// went back; it is recorded as 0.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	if h.count == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.count++
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, uint64(ns), 0)
	h.sumHi += carry
	p, i := bucket(ns)
	if h.page[p] == nil {
		h.page[p] = new([pageSize]uint64)
	}
	h.page[p][i]++
}

// bucket returns the page and the index in it of ns ≥ 0.
func bucket(ns int64) (page, index int) {
	shift := max(bits.Len64(uint64(ns))-subBits-1, 0)
	// top is below 2*pageSize, and at least pageSize once shift is not 0.
	top := int(ns >> shift)
	return shift + top>>subBits, top & (pageSize - 1)
}

// middle returns the value that stands for a bucket.
func middle(page, index int) int64 {
	if page < 2 {
		return int64(page*pageSize + index)
	}
	shift := page - 1
	return int64(pageSize+index)<<shift + int64(1)<<(shift-1)
}

// each calls f for every bucket that is not empty, in ascending order, until f
// returns false.
func (h *Histogram) each(f func(page, index int, count uint64) bool) {
	for p, counts := range &h.page {
		if counts == nil {
			continue
		}
		for i, n := range counts {
			if n != 0 && !f(p, i, n) {
				return
			}
		}
	}
}

// Count returns the number of latencies recorded.
func (h *Histogram) Count() uint64 { return h.count }

// Sum returns all latencies added up in ns, at most math.MaxInt64.
func (h *Histogram) Sum() int64 {
	if h.sumHi != 0 || h.sumLo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(h.sumLo)
}

// Mean returns the average latency in ns, rounded down, 0 if there is none.
func (h *Histogram) Mean() int64 {
	if h.count == 0 {
		return 0
	}
	mean, _ := bits.Div64(h.sumHi, h.sumLo, h.count)
	return int64(mean)
}

// Quantile returns the latency in ns that the fraction q of all latencies does
// not exceed (nearest rank), 0 if there is none. It lies within the least and the largest, is
// within 1 % of the recorded latency of that rank, and is that latency where the
// rank is the first or the last. A q outside [0, 1] is taken as the nearer end.
func (h *Histogram) Quantile(q float64) int64 {
	// 0.07*100 is a little over 7 in binary; the factor keeps that at rank 7.
	exact := math.Ceil(q * float64(h.count) * (1 - 0x1p-50))
	switch {
	case q >= 1 || exact >= float64(h.count):
		return h.max
	case !(exact > 1): // a NaN too
		return h.min
	}
	rank := uint64(exact)
	var seen uint64
	value := h.max
	h.each(func(page, index int, count uint64) bool {
		if seen += count; seen < rank {
			return true
		}
		value = middle(page, index)
		return false
	})
	return min(max(value, h.min), h.max)
}

// AtMost returns the number of latencies that do not exceed ns, give or take those within 1 % of it.
func (h *Histogram) AtMost(ns int64) (n uint64) {
	if ns >= h.max {
		return h.count
	}
	h.each(func(page, index int, count uint64) bool {
		if middle(page, index) > ns {
			return false
		}
		n += count
		return true
	})
	return n
}

// Merge adds what other recorded to h; other stays as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count += other.count
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, other.sumLo, 0)
	h.sumHi += other.sumHi + carry
	for p, counts := range &other.page {
		if counts == nil {
			continue
		}
		if h.page[p] == nil {
			h.page[p] = new([pageSize]uint64)
		}
		for i, n := range counts {
			h.page[p][i] += n
		}
	}
}

// Clone returns a copy that no longer changes with h.
func (h *Histogram) Clone() Latencies {
	c := new(Histogram)
	c.Merge(h)
	return c
}

// Since returns what h recorded after earlier, a [Histogram.Clone] of it, was
// taken. Count, Sum and Mean stay exact. Extremes are exact where they are
// extremes of h that earlier did not have, and within 1 % otherwise.
func (h *Histogram) Since(earlier Latencies) Latencies { return h.since(earlier.(*Histogram)) }

func (h *Histogram) since(earlier *Histogram) *Histogram {
	d := &Histogram{count: h.count - earlier.count}
	if d.count == 0 {
		return d
	}
	var borrow uint64
	d.sumLo, borrow = bits.Sub64(h.sumLo, earlier.sumLo, 0)
	d.sumHi, _ = bits.Sub64(h.sumHi, earlier.sumHi, borrow)
	for p, counts := range &h.page {
		switch {
		case counts == nil:
		case earlier.page[p] == nil:
			copied := *counts
			d.page[p] = &copied
		case *counts != *earlier.page[p]:
			d.page[p] = new([pageSize]uint64)
			for i, n := range counts {
				d.page[p][i] = n - earlier.page[p][i]
			}
		}
	}
	first := true
	d.each(func(page, index int, _ uint64) bool {
		value := min(max(middle(page, index), h.min), h.max)
		if first {
			d.min, first = value, false
		}
		d.max = value
		return true
	})
	if earlier.count == 0 || h.min < earlier.min {
		d.min = h.min
	}
	if earlier.count == 0 || h.max > earlier.max {
		d.max = h.max
	}
	return d
}
