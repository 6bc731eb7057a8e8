package render

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// estimate writes how many calls there were about, or, where nothing bounds them, at least.
func estimate(w *stats.Whole) string {
	if !w.Bounded() {
		return "≥" + units.Compact(math.Floor(w.Low))
	}
	return "≈" + units.Compact(math.Round(w.Calls))
}

// rate writes how many calls there were in a second, nil where that is not known.
func rate(r stats.Row) any {
	if !r.Whole.Bounded() && r.Seconds > 0 {
		return "≥" + units.Rate(r.Whole.Low/r.Seconds)
	}
	return known(rated(r), units.Rate(r.Rate))
}

// rated tells whether the rate of a row is known: a recording that was cut off does not say how long it is.
func rated(r stats.Row) bool { return r.Seconds > 0 || r.Rate > 0 }

// wholeBounds are the bounds of an estimate; high is nil where nothing bounds it.
func wholeBounds(w *stats.Whole) (low uint64, high any) {
	if w.Bounded() {
		high = uint64(math.Ceil(w.High))
	}
	return uint64(math.Floor(w.Low)), high
}

// scaled is a sum of latencies for all calls of a row, in ns, with its bounds; ok is false where it is not known.
func scaled(r stats.Row) (n, low, high int64, ok bool) {
	if !timed(r) || !r.Whole.Bounded() {
		return 0, 0, 0, false
	}
	net := r.Latency
	if r.Raw {
		net = r.Net
	}
	sum := net.Sum()
	from, to := sum, sum
	if r.Bounds != nil {
		from, to = r.Bounds.Of(sumOf)
	}
	a, b, c, ok := r.Scaled(sum, from, to, net)
	return whole64(a), whole64(b), whole64(c), ok
}

// whole64 is a float as far as an int64 goes.
func whole64(x float64) int64 { return int64(min(math.Round(x), 1<<62)) }

// sumCell is TOTAL, and its number; that is -1 if it is not known.
func sumCell(r stats.Row) (any, int64) {
	if r.Whole == nil {
		if !timed(r) {
			return nil, -1
		}
		return units.Duration(r.Latency.Sum()), max(r.Latency.Sum(), 0)
	}
	n, _, _, ok := scaled(r)
	if !ok || r.Raw { // of what probes cost a sum over all calls would have too much
		return nil, -1
	}
	return units.Duration(n), n
}

// amountSum is SUM: for all calls, if it is known how many there were.
func amountSum(r stats.Row) any {
	if r.Whole == nil || r.Amounts == nil || r.Amounts.Count() == 0 {
		return amountCell(r, (*stats.Histogram).Sum)
	}
	n, _, _ := amounts(r)
	if !r.Whole.Bounded() {
		return "≥" + amountText(r.Amounts.Sum())
	}
	return amountText(n)
}

// amounts is the sum of amounts for all calls of a row, with its bounds.
func amounts(r stats.Row) (n, low, high int64) {
	if n = r.Amounts.Sum(); r.Whole == nil {
		return n, n, n
	}
	a, b, c := r.Amounts.Scaled(r.Whole)
	return whole64(a), max(whole64(b), n), whole64(c)
}

// callsLow and callsHigh are the bounds of the number of calls, which is exact where all were seen.
func callsLow(r stats.Row) any {
	if r.Whole == nil {
		return r.Calls
	}
	low, _ := wholeBounds(r.Whole)
	return low
}

func callsHigh(r stats.Row) any {
	if r.Whole == nil {
		return r.Calls
	}
	_, high := wholeBounds(r.Whole)
	return high
}

// statistic is a statistic of latencies, of which the sum is of all calls; nil if it is not known.
func statistic(r stats.Row, s stats.Statistic, latencies *stats.Histogram) any {
	if s.Name == "sum" && r.Whole != nil {
		n, _, _, ok := scaled(r)
		return known(ok, n)
	}
	return known(timed(r), s.Of(latencies))
}

// self is the time of all calls without that of timed calls nested in them; nil where it is not known.
func self(r stats.Row) any {
	n := float64(r.Self) * r.Scale()
	return known(timed(r) && r.Whole.Bounded() && !r.Raw && r.Bounds != nil && !math.IsNaN(n), whole64(n))
}

// amountsOf is the sum of amounts for all calls, 0 if there are none.
func amountsOf(r stats.Row) int64 {
	if r.Amounts == nil || r.Amounts.Count() == 0 {
		return 0
	}
	n, _, _ := amounts(r)
	return n
}
