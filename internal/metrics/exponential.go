package metrics

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

// Exponential are latencies in seconds, in buckets that grow by the same factor, 2 to the power of
// 2^-Scale: bucket First+i has those above its lower bound factor^(First+i) and up to factor^(First+i+1).
// The exponential histograms of OpenTelemetry number them like that; native ones of Prometheus give each the
// number that is greater by 1.
type Exponential struct {
	Scale, First int
	Counts       []uint64
	Zero         uint64 // those of 0
}

// NewExponential sorts latencies into such buckets. As it has them by buckets of its own, each is within 1 % of
// where it belongs.
func NewExponential(h *stats.Histogram, scale int) Exponential {
	e := Exponential{Scale: scale}
	if h == nil {
		return e
	}
	for ns, n := range h.All {
		if ns == 0 {
			e.Zero += n
			continue
		}
		i := int(math.Ceil(math.Log2(float64(ns)/1e9)*float64(int(1)<<scale))) - 1
		if len(e.Counts) == 0 {
			e.First = i
		}
		for len(e.Counts) <= i-e.First {
			e.Counts = append(e.Counts, 0)
		}
		e.Counts[i-e.First] += n
	}
	return e
}

// Seconds are nanoseconds in seconds.
func Seconds(ns int64) float64 { return float64(ns) / 1e9 }
