package render

import (
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// estimate writes how many calls there were about, or, where nothing bounds them, at least.
func estimate(w *stats.Whole) string {
	if !w.Bounded() {
		return "≥" + printable.Compact(math.Floor(w.Low))
	}
	return "≈" + printable.Compact(math.Round(w.Calls))
}

// rate writes how many calls there were in a second, nil where that is not known.
func rate(r stats.Func) any {
	if !r.Whole.Bounded() && r.Seconds > 0 {
		return "≥" + printable.Rate(r.Whole.Low/r.Seconds)
	}
	return Known(rated(r), printable.Rate(r.Rate()))
}

// rated tells whether the rate of a row is known: a recording that was cut off does not say how long it is.
func rated(r stats.Func) bool { return r.Seconds > 0 }

// sumCell is TOTAL, and its number; that is -1 if it is not known.
func sumCell(r stats.Func) (any, int64) {
	n, _, _, ok := r.Total()
	switch {
	case !timed(r), r.Whole != nil && (!ok || r.Raw()): // of what probes cost a sum over all calls would have too much
		return nil, -1
	case r.Whole == nil:
		n = r.Shown().Sum()
	}
	return printable.Duration(n), n
}

// amountSum is SUM: for all calls, if it is known how many there were.
func amountSum(r stats.Func) any {
	n, _, _ := r.AmountTotal()
	switch {
	case r.Amounts == nil || r.Amounts.Count() == 0:
		return nil
	case !r.Whole.Bounded():
		return "≥" + amountText(r.Amounts.Sum())
	}
	return amountText(n)
}

// amountMean is AVG.
func amountMean(r stats.Func) any {
	if r.Amounts == nil || r.Amounts.Count() == 0 {
		return nil
	}
	return amountText(r.Amounts.Mean())
}

// callBounds are the bounds of the number of calls, which is exact where all were seen; high is nil where nothing bounds it.
func callBounds(r stats.Func) (low, high any) {
	if r.Whole == nil {
		return r.Calls, r.Calls
	}
	if r.Whole.Bounded() {
		high = uint64(math.Ceil(r.Whole.High))
	}
	return uint64(math.Floor(r.Whole.Low)), high
}

// statistic is a statistic of latencies, and its bounds. The sum is of all calls. What is not known is nil.
func statistic(r stats.Func, s stats.Statistic) (value, low, high any) {
	if !timed(r) {
		return nil, nil, nil
	}
	if s.Name == "sum" && r.Whole != nil {
		sum, least, most, ok := r.Total()
		return Known(ok, sum), Known(ok, least), Known(ok, most)
	}
	if r.Bounds == nil {
		return s.Of(r.Shown()), nil, nil
	}
	least, most := r.Bounds.Of(s)
	return s.Of(r.Shown()), least, most
}

// self is the time of all calls without that of timed calls nested in them; nil where it is not known.
func self(r stats.Func) any {
	n, ok := r.SelfTotal()
	return Known(ok, n)
}
