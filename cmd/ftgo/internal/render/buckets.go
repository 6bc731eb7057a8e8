package render

import (
	"cmp"

	"github.com/ftgo/ftgo/internal/stats"
)

func bucketsOf(h *stats.Histogram) (buckets objects) {
	for _, b := range h.Buckets(1) {
		buckets = append(buckets, object{{"from", b.From}, {"to", b.To}, {"count", b.Count}})
	}
	return buckets
}

// whole tells whether rows are of all of a run, and not of one interval.
func (o Options) whole() bool { return o.Interval == nil || o.Interval.Number == 0 }

// fine are latencies by buckets, of which the rows of several runs are added up.
func fine(r stats.Func) any {
	if r.Latency == nil {
		return nil
	}
	b := cmp.Or(r.Bounds, noBounds)
	return object{
		{"ns", r.Latency}, {"low", known(r.Bounds != nil, &b.Low)}, {"high", known(r.Bounds != nil, &b.High)},
		{"raw", known(r.Bounds != nil, &b.Raw)}, {"waited", nonzero(b.Waiting)}, {"self", known(r.Bounds != nil, r.Self)},
	}
}
