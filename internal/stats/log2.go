package stats

import (
	"math"
	"math/bits"
)

// Log2 holds latencies as the kernel's histograms do: their number and their sum are exact, of
// each the power of two is known that it does not exceed. The zero value is empty.
type Log2 struct {
	// Counts[k] is how many were above 2^(k-1) and at most 2^k nanoseconds.
	Counts [64]uint64
	// Number is how many there are, Total their sum in nanoseconds.
	Number, Total uint64
}

// Count returns the number of latencies.
func (l *Log2) Count() uint64 { return l.Number }

// Sum returns all latencies added up in ns, at most math.MaxInt64.
func (l *Log2) Sum() int64 { return nanoseconds(l.Total) }

// Mean returns the average latency in ns, rounded down, 0 if there is none.
func (l *Log2) Mean() int64 {
	if l.Number == 0 {
		return 0
	}
	return nanoseconds(l.Total / l.Number)
}

// Quantile returns a bound in ns that the fraction q of all latencies does not exceed: the
// least power of two of which that can be said, 0 if there are none.
func (l *Log2) Quantile(q float64) int64 {
	var all uint64
	for _, n := range l.Counts {
		all += n
	}
	rank := max(uint64(math.Ceil(q*float64(all)*(1-0x1p-50))), 1)
	var seen uint64
	for k, n := range l.Counts {
		if seen += n; n > 0 && seen >= rank {
			return nanoseconds(1 << k)
		}
	}
	return 0
}

// AtMost returns the number of latencies whose power of two does not exceed ns.
func (l *Log2) AtMost(ns int64) (n uint64) {
	for k := 0; k < len(l.Counts)-1 && int64(1)<<k <= ns; k++ {
		n += l.Counts[k]
	}
	return n
}

// Buckets returns the latencies in the kernel's ranges, from the first that holds any to the
// last.
func (l *Log2) Buckets(int64) []Bucket {
	var buckets []Bucket
	last := -1
	for k, n := range l.Counts {
		if n == 0 {
			continue
		}
		if last < 0 {
			last = k - 1
		}
		for last++; last <= k; last++ {
			b := Bucket{From: nanoseconds(1<<last>>1 + 1), To: nanoseconds(1<<last + 1), Count: l.Counts[last]}
			if last == 0 {
				b.From = 0
			}
			buckets = append(buckets, b)
		}
		last = k
	}
	return buckets
}

// Clone returns a copy.
func (l *Log2) Clone() Latencies {
	c := *l
	return &c
}

// Since returns what was added after earlier, a clone of l, was taken.
func (l *Log2) Since(earlier Latencies) Latencies {
	before := earlier.(*Log2)
	d := &Log2{Number: grown(l.Number, before.Number), Total: grown(l.Total, before.Total)}
	for k := range d.Counts {
		d.Counts[k] = grown(l.Counts[k], before.Counts[k])
	}
	return d
}

// nanoseconds is n as far as int64 goes.
func nanoseconds(n uint64) int64 {
	if bits.Len64(n) > 63 {
		return math.MaxInt64
	}
	return int64(n)
}
