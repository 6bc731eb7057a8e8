package metrics

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ftgo/ftgo/internal/stats"
)

// bounds are the bucket bounds of the classic histogram, in seconds.
var bounds = []float64{
	1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
	0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
}

// maxScale is the finest resolution of histograms: 2^6 buckets per power of two. The buckets of [stats.Histogram] are not
// finer.
const maxScale = 6

// histogram is both a native and a classic histogram, because the text formats can represent only the classic one.
type histogram struct {
	prometheus.Metric // the native histogram
	classic           []*dto.Bucket
}

func newHistogram(f *stats.Func, since time.Time) prometheus.Metric {
	e := newExponential(f.Latency, maxScale)
	buckets := make(map[int]int64)
	for i, n := range e.counts {
		if n > 0 {
			buckets[e.first+1+i] = int64(n)
		}
	}
	native := must(prometheus.NewConstNativeHistogram(
		duration, f.Latency.Count(), f.Latency.Seconds(), buckets, nil, e.zero, maxScale, 0, since, f.Name))
	return histogram{Metric: native, classic: classic(f.Latency)}
}

// classic counts the latencies up to each bound. A latency within 1 % of a bound may be counted on the wrong side of
// it, but always on the same side, so that no bucket ever decreases.
func classic(h *stats.Histogram) (buckets []*dto.Bucket) {
	for _, bound := range bounds {
		buckets = append(buckets, &dto.Bucket{UpperBound: new(bound), CumulativeCount: new(uint64)})
	}
	for ns, n := range h.All {
		for i, bound := range slices.Backward(bounds) {
			if seconds(ns) > bound {
				break
			}
			*buckets[i].CumulativeCount += n
		}
	}
	return buckets
}

// Write implements prometheus.Metric.
func (h histogram) Write(out *dto.Metric) error {
	err := h.Metric.Write(out)
	if out.Histogram != nil {
		out.Histogram.Bucket = h.classic
	}
	return err
}

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
