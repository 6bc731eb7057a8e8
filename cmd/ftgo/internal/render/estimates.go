package render

import (
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// estimate returns the text of an estimated number of calls, or of its lower bound if it has no upper one.
func estimate(w *stats.Whole) string {
	if !w.Bounded() {
		return "≥" + printable.Compact(math.Floor(w.Low))
	}
	return "≈" + printable.Compact(math.Round(w.Calls))
}

// rate returns the cell of calls a second, nil if unknown.
func rate(r stats.Func) any {
	if !r.Whole.Bounded() && r.Seconds > 0 {
		return "≥" + printable.Rate(r.Whole.Low/r.Seconds)
	}
	return Known(rated(r), printable.Rate(r.Rate()))
}

// rated reports whether the rate is known. It is not in a recording that was cut off, whose length is unknown.
func rated(r stats.Func) bool { return r.Seconds > 0 }

// sumCell returns the cell TOTAL and its number, -1 if unknown.
func sumCell(r stats.Func) (any, int64) {
	n, _, _, ok := r.Total()
	switch {
	case !timed(r), r.Whole != nil && (!ok || r.Raw()): // a raw sum would multiply the cost of probes
		return nil, -1
	case r.Whole == nil:
		n = r.Shown().Sum()
	}
	return printable.Duration(n), n
}

// amountSum returns the cell SUM, of all calls if their number is known.
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

// amountMean returns the cell AVG.
func amountMean(r stats.Func) any {
	if r.Amounts == nil || r.Amounts.Count() == 0 {
		return nil
	}
	return amountText(r.Amounts.Mean())
}

// callBounds returns the bounds of the number of calls. They are equal if all were seen; high is nil without an upper bound.
func callBounds(r stats.Func) (low, high any) {
	if r.Whole == nil {
		return r.Calls, r.Calls
	}
	if r.Whole.Bounded() {
		high = uint64(math.Ceil(r.Whole.High))
	}
	return uint64(math.Floor(r.Whole.Low)), high
}

// statistic returns a statistic of latencies and its bounds, nil if unknown. The sum is that of all calls.
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

// self returns the time of all calls without nested timed calls, nil if unknown.
func self(r stats.Func) any {
	n, ok := r.SelfTotal()
	return Known(ok, n)
}
