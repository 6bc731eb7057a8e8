package stats

import (
	"math"
	"math/bits"
)

// Coarse is one row of what the kernel has counted by itself: calls and the sum of their
// latencies are exact, a latency is known by the power of two that it does not exceed.
// Calls = Completed + Unfinished + Lost.
type Coarse struct {
	Name string
	// Calls is the number of calls begun, Completed how many of them have returned.
	Calls, Completed uint64
	// Unfinished calls were left by panic or Goexit, or had not ended yet.
	Unfinished uint64
	// Lost is Unfinished where the kernel's table was full: then it is not known whether
	// they have ended.
	Lost uint64
	// Sum is the latencies of the completed calls added up, in nanoseconds.
	Sum uint64
	// Log2[k] is how many of them were above 2^(k-1) and at most 2^k nanoseconds.
	Log2 [64]uint64
	// Rate is calls per second.
	Rate float64
}

// Settle tells what became of the calls that have not completed, and sets the rate.
func (c *Coarse) Settle(seconds float64, lost bool) {
	c.Unfinished, c.Lost = grown(c.Calls, c.Completed), 0
	if lost {
		c.Unfinished, c.Lost = 0, c.Unfinished
	}
	c.Rate = 0
	if seconds > 0 {
		c.Rate = float64(c.Calls) / seconds
	}
}

// Since returns what happened after earlier.
func (c Coarse) Since(earlier Coarse) Coarse {
	c.Calls = grown(c.Calls, earlier.Calls)
	c.Completed = grown(c.Completed, earlier.Completed)
	c.Sum = grown(c.Sum, earlier.Sum)
	for k := range c.Log2 {
		c.Log2[k] = grown(c.Log2[k], earlier.Log2[k])
	}
	return c
}

// Mean is the average latency in ns, rounded down, 0 if there is none.
func (c *Coarse) Mean() int64 {
	if c.Completed == 0 {
		return 0
	}
	return nanoseconds(c.Sum / c.Completed)
}

// AtMost returns a bound in ns that the fraction q of all latencies does not exceed: the
// least power of two of which that can be said, 0 if there are none.
func (c *Coarse) AtMost(q float64) int64 {
	var all uint64
	for _, n := range c.Log2 {
		all += n
	}
	rank := max(uint64(math.Ceil(q*float64(all)*(1-0x1p-50))), 1)
	var seen uint64
	for k, n := range c.Log2 {
		if seen += n; n > 0 && seen >= rank {
			return nanoseconds(1 << k)
		}
	}
	return 0
}

// Buckets are the latencies in ranges that double in width, from the first that holds any
// to the last.
func (c *Coarse) Buckets() []Bucket {
	var buckets []Bucket
	last := -1
	for k, n := range c.Log2 {
		if n == 0 {
			continue
		}
		if last < 0 {
			last = k - 1
		}
		for last++; last <= k; last++ {
			b := Bucket{From: nanoseconds(1<<last>>1 + 1), To: nanoseconds(1<<last + 1), Count: c.Log2[last]}
			if last == 0 {
				b.From = 0
			}
			buckets = append(buckets, b)
		}
		last = k
	}
	return buckets
}

// nanoseconds is n as far as int64 goes.
func nanoseconds(n uint64) int64 {
	if bits.Len64(n) > 63 {
		return math.MaxInt64
	}
	return int64(n)
}
