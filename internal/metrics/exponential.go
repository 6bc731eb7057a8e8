package metrics

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

// exponential is a histogram of latencies in seconds. The bounds of its buckets grow by the factor 2^(2^-scale):
// bucket first+i counts latencies greater than factor^(first+i) and at most factor^(first+i+1). OpenTelemetry numbers
// the buckets of an exponential histogram like this; the index of a Prometheus native histogram is greater by 1.
type exponential struct {
	scale, first int
	counts       []uint64
	zero         uint64 // latencies of 0
}

// newExponential converts a histogram to exponential buckets. It moves each latency by at most 1 %, because h itself
// has buckets.
func newExponential(h *stats.Histogram, scale int) exponential {
	e := exponential{scale: scale}
	if h == nil {
		return e
	}
	for ns, n := range h.All {
		if ns == 0 {
			e.zero += n
			continue
		}
		i := int(math.Ceil(math.Log2(float64(ns)/1e9)*float64(int(1)<<scale))) - 1
		if len(e.counts) == 0 {
			e.first = i
		}
		for len(e.counts) <= i-e.first {
			e.counts = append(e.counts, 0)
		}
		e.counts[i-e.first] += n
	}
	return e
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
