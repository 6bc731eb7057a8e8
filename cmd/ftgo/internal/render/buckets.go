package render

import (
	"cmp"
	"strconv"

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
func fine(r stats.Row) any {
	if r.Latency == nil {
		return nil
	}
	b := cmp.Or(r.Bounds, noBounds)
	return object{
		{"ns", bucketsIn(cmp.Or(r.Net, r.Latency))}, {"low", known(r.Bounds != nil, bucketsIn(&b.Low))}, {"high", known(r.Bounds != nil, bucketsIn(&b.High))},
		{"raw", known(r.Bounds != nil, bucketsIn(&b.Raw))}, {"waited", nonzero(b.Waiting)}, {"self", known(r.Bounds != nil, r.Self)},
	}
}

func bucketsIn(h *stats.Histogram) object {
	text := []byte{'['}
	for from, count := range h.Fine {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(strconv.AppendInt(append(text, '['), from, 10), ',')
		text = append(strconv.AppendUint(text, count, 10), ']')
	}
	of := h.Totals()
	return object{{"min", of.Min}, {"max", of.Max}, {"sum", of.Sum}, {"counts", verbatim(append(text, ']'))}}
}
