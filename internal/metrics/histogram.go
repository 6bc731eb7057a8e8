package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ftgo/ftgo/internal/stats"
)

// bounds are those of the classic histogram, in seconds.
var bounds = []float64{
	1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
	0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
}

// schema is that of the native histogram: 64 buckets for each power of two, as many as what they are made of has.
const schema = 6

// histogram is both a native histogram and a classic one: text has no place for the former.
type histogram struct {
	prometheus.Metric // the native one
	classic           []*dto.Bucket
}

func newHistogram(f *Function) prometheus.Metric {
	e := NewExponential(f.Latency, schema)
	buckets := make(map[int]int64)
	for i, n := range e.Counts {
		if n > 0 {
			buckets[e.First+1+i] = int64(n)
		}
	}
	h := histogram{Metric: must(prometheus.NewConstNativeHistogram(duration, f.Latency.Count(), f.Latency.Seconds(), buckets, nil, e.Zero, schema, 0, f.Since, f.Name))}
	h.classic = classic(f.Latency)
	return h
}

// classic has the latencies up to each bound, give or take those within 1 % of it. Which side one is on depends on
// nothing else, so that no bucket ever has less than before.
func classic(h *stats.Histogram) (buckets []*dto.Bucket) {
	for _, bound := range bounds {
		buckets = append(buckets, &dto.Bucket{UpperBound: new(bound), CumulativeCount: new(uint64)})
	}
	for ns, n := range h.All {
		for i, bound := range slices.Backward(bounds) {
			if Seconds(ns) > bound {
				break
			}
			*buckets[i].CumulativeCount += n
		}
	}
	return buckets
}

// Write is that of a prometheus.Metric.
func (h histogram) Write(out *dto.Metric) error {
	err := h.Metric.Write(out)
	if out.Histogram != nil {
		out.Histogram.Bucket = h.classic
	}
	return err
}
