package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// subBits: each range from a power of two to the next is divided into 1<<subBits buckets. With 64 buckets in such a
// range, the width of a bucket is at most 1/64 of its values, so its middle is within 1/128 (0.8 %) of each value. Each
// value below 1<<(subBits+1) has its own bucket.
const subBits = 6

// Histogram holds latencies in nanoseconds. Count, Sum, Mean and the extremes are exact, quantiles are within 1 %. The
// zero value is empty. Only the buckets between the extremes take memory: about 5 kB if the largest latency is 1000 times
// the least.
type Histogram struct {
	count    uint64
	min, max int64
	// The sum has 128 bits: the waits of ten thousand goroutines add up to the 292 years of an int64 within eleven
	// days.
	sumHi, sumLo uint64
	first        int      // the number of the bucket of counts[0]
	counts       []uint64 // neither the first nor the last is 0
}

// Record adds one latency, in ns. It records a negative latency, which results from a clock that went back, as 0.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	h.addTotals(&Histogram{count: 1, min: ns, max: ns, sumLo: uint64(ns)})
	h.add(bucket(ns), 1)
}

// addTotals adds the totals of another histogram, which is not empty.
func (h *Histogram) addTotals(other *Histogram) {
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count += other.count
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, other.sumLo, 0)
	h.sumHi += other.sumHi + carry
}

// add adds n latencies to a bucket.
func (h *Histogram) add(b int, n uint64) {
	if len(h.counts) == 0 {
		h.first = b
	}
	if missing := h.first - b; missing > 0 {
		h.counts, h.first = slices.Insert(h.counts, 0, make([]uint64, missing)...), b
	}
	if missing := b - h.first - len(h.counts) + 1; missing > 0 {
		h.counts = append(h.counts, make([]uint64, missing)...)
	}
	h.counts[b-h.first] += n
}

// bucket returns the number of the bucket of ns ≥ 0.
func bucket(ns int64) int {
	shift := max(bits.Len64(uint64(ns))-subBits-1, 0)
	return shift<<subBits + int(ns>>shift)
}

// least returns the least value of a bucket.
func least(b int) int64 {
	shift := max(b>>subBits-1, 0)
	return int64(b-shift<<subBits) << shift
}

// middle returns the value in the middle of a bucket, which represents all of its values.
func middle(b int) int64 { return least(b) + int64(1)<<max(b>>subBits-1, 0)/2 }

// All yields the middle and the count of each bucket that is not empty, in ascending order.
func (h *Histogram) All(yield func(value int64, count uint64) bool) {
	for i, n := range h.counts {
		if n != 0 && !yield(middle(h.first+i), n) {
			return
		}
	}
}

// Count returns the number of latencies recorded.
func (h *Histogram) Count() uint64 { return h.count }

// Sum returns the sum of all latencies in ns, at most math.MaxInt64.
func (h *Histogram) Sum() int64 {
	if h.sumHi != 0 {
		return math.MaxInt64
	}
	return nanoseconds(h.sumLo)
}

// Seconds returns the sum of all latencies in seconds, which has no upper limit.
func (h *Histogram) Seconds() float64 { return (float64(h.sumHi)*(1<<64) + float64(h.sumLo)) / 1e9 }

// nanoseconds converts n to int64, at most math.MaxInt64.
func nanoseconds(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// Mean returns the average latency in ns, rounded down, or 0 if h is empty.
func (h *Histogram) Mean() int64 {
	if h.count == 0 {
		return 0
	}
	mean, _ := bits.Div64(h.sumHi, h.sumLo, h.count)
	return nanoseconds(mean)
}

// Spread returns the standard error of the mean, divided by the mean; 1 for fewer than two latencies.
func (h *Histogram) Spread() float64 {
	mean := h.Seconds() * 1e9 / float64(max(h.count, 1))
	if h.count < 2 || mean == 0 {
		return 1
	}
	var squares float64
	for value, n := range h.All {
		d := float64(value) - mean
		squares += d * d * float64(n)
	}
	n := float64(h.count)
	return math.Sqrt(squares/(n-1)/n) / mean
}

// Quantile returns the latency in ns that the fraction q of all latencies does not exceed (nearest rank), or 0 if h is
// empty. The result is within 1 % of the recorded latency with that rank; it is exact for the first and last rank.
// Quantile limits q to [0, 1].
func (h *Histogram) Quantile(q float64) int64 {
	// 0.07*100 is a little over 7 in binary; the factor makes its rank 7, not 8.
	exact := math.Ceil(q * float64(h.count) * (1 - 0x1p-50))
	switch {
	case q >= 1 || exact >= float64(h.count):
		return h.max
	case !(exact > 1): // also NaN
		return h.min
	}
	rank, seen := uint64(exact), uint64(0)
	for value, count := range h.All {
		if seen += count; seen >= rank {
			return min(max(value, h.min), h.max)
		}
	}
	return h.max
}

// AtMost returns the number of latencies that do not exceed ns. Latencies within 1 % of ns may be counted wrongly.
func (h *Histogram) AtMost(ns int64) (n uint64) {
	if ns >= h.max {
		return h.count
	}
	for value, count := range h.All {
		if value > ns {
			break
		}
		n += count
	}
	return n
}

// Add adds all latencies of another histogram.
func (h *Histogram) Add(other *Histogram) {
	if other.count == 0 {
		return
	}
	h.addTotals(other)
	for i, n := range other.counts {
		h.add(other.first+i, n)
	}
}

// Totals returns a Histogram without buckets: only Count, Sum, Mean and the extremes are valid.
func (h *Histogram) Totals() Histogram {
	t := *h
	t.counts = nil
	return t
}

// Since returns the latencies that h has recorded after earlier, an older copy of it. If earlier is nil, it returns a
// copy of h. Count, Sum and Mean are exact. An extreme of the result is exact if it is a new extreme of h, else within
// 1 %.
func (h *Histogram) Since(earlier *Histogram) *Histogram {
	switch {
	case h == nil:
		return nil
	case earlier == nil || earlier.count == 0:
		d := *h
		d.counts = slices.Clone(h.counts)
		return &d
	case h.count <= earlier.count:
		return &Histogram{}
	}
	d := &Histogram{count: h.count - earlier.count}
	var borrow uint64
	d.sumLo, borrow = bits.Sub64(h.sumLo, earlier.sumLo, 0)
	d.sumHi, _ = bits.Sub64(h.sumHi, earlier.sumHi, borrow)
	for i, n := range h.counts {
		if k := h.first + i - earlier.first; k >= 0 && k < len(earlier.counts) {
			n -= earlier.counts[k]
		}
		if n != 0 {
			d.add(h.first+i, n)
		}
	}
	d.min, d.max = middle(d.first), middle(d.first+len(d.counts)-1)
	d.min, d.max = min(max(d.min, h.min), h.max), min(max(d.max, h.min), h.max)
	if h.min < earlier.min {
		d.min = h.min
	}
	if h.max > earlier.max {
		d.max = h.max
	}
	return d
}

// Bucket counts the latencies in [From, To), in ns.
type Bucket struct {
	From, To int64
	Count    uint64
}

// Buckets counts latencies in ranges that double in width: below 2 units, 2 to 4, 4 to 8 and so on, from the first
// range that is not empty to the last, including empty ones between them. unit is in ns. With unit 1 the counts are
// exact; with another unit, a latency within 1 % of an edge may be counted on the wrong side of it. To is at most
// math.MaxInt64.
func (h *Histogram) Buckets(unit int64) (buckets []Bucket) {
	var counts [64]uint64
	for value, count := range h.All {
		value = min(max(value, h.min), h.max)
		counts[max(bits.Len64(uint64(value/unit)), 1)] += count
	}
	filled := 0
	for k, n := range counts {
		if n == 0 && buckets == nil {
			continue
		}
		b := Bucket{To: edge(k, unit), Count: n}
		if k > 1 { // the first range starts at 0, not at one unit
			b.From = edge(k-1, unit)
		}
		if buckets = append(buckets, b); n > 0 {
			filled = len(buckets)
		}
	}
	return buckets[:filled]
}

// edge returns 1<<exponent units in ns.
func edge(exponent int, unit int64) int64 {
	if exponent >= 63 || unit > math.MaxInt64>>exponent {
		return math.MaxInt64
	}
	return unit << exponent
}

// Statistic is a statistic of latencies.
type Statistic struct {
	Name  string
	Of    func(*Histogram) int64
	rough bool // accurate to 1 % only, so that its bounds are wider
}

// Statistics lists the statistics in the output for a function.
var Statistics = [...]Statistic{
	{"min", quantile(0), false},
	{"mean", (*Histogram).Mean, false},
	{"p50", quantile(0.5), true},
	{"p90", quantile(0.9), true},
	{"p99", quantile(0.99), true},
	{"max", quantile(1), false},
	{"sum", (*Histogram).Sum, false},
}

func quantile(q float64) func(*Histogram) int64 {
	return func(h *Histogram) int64 { return h.Quantile(q) }
}

// histogramJSON is the JSON form of a Histogram.
type histogramJSON struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
	Sum int64 `json:"sum"` // at most math.MaxInt64
	// Counts has the least value and the count of each bucket that is not empty, in ascending order.
	Counts [][2]uint64 `json:"counts"`
}

// MarshalJSON encodes h without loss, unless the sum exceeds math.MaxInt64.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	j := histogramJSON{h.min, h.max, h.Sum(), [][2]uint64{}}
	for i, n := range h.counts {
		if n != 0 {
			j.Counts = append(j.Counts, [2]uint64{uint64(least(h.first + i)), n})
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error if the numbers contradict each other, so that no
// input results in an invalid Histogram.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if len(j.Counts) == 0 {
		return errors.New("buckets: no bucket")
	}
	*h = Histogram{}
	before := int64(-1)
	for _, b := range j.Counts {
		from, count := int64(b[0]), b[1]
		if from <= before || least(bucket(from)) != from || count == 0 || h.count+count < count {
			return fmt.Errorf("buckets: bucket of %d after %d with %d latencies: out of order, none begins there, or too many", b[0], before, count)
		}
		before = from
		// Each latency is at least the least value of its bucket. So the sum of these is a lower bound.
		hi, lo := bits.Mul64(b[0], count)
		h.addTotals(&Histogram{count: count, min: from, max: from, sumHi: hi, sumLo: lo})
		h.add(bucket(from), count)
	}
	if j.Min < 0 || j.Min > j.Max || bucket(j.Min) != bucket(h.min) || bucket(j.Max) != bucket(h.max) || j.Sum < h.Sum() {
		return fmt.Errorf("buckets: min %d, max %d or sum %d: not of latencies from %d to %d ns", j.Min, j.Max, j.Sum, h.min, h.max)
	}
	h.min, h.max = j.Min, j.Max
	if j.Sum < math.MaxInt64 || h.sumHi == 0 && h.sumLo < math.MaxInt64 {
		h.sumHi, h.sumLo = 0, uint64(j.Sum)
	} // else the true sum exceeds int64, and the sum of the buckets is its lower bound
	return nil
}
