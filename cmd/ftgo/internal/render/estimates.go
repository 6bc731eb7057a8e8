package render

import (
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// estimate returns an estimated number of calls as text. If the number has no upper bound, it returns the lower bound.
func estimate(w *stats.Estimate) string {
	if !w.Bounded() {
		return "≥" + printable.Compact(math.Floor(w.Low))
	}
	return "≈" + printable.Compact(math.Round(w.Calls))
}

// rate returns the cell RATE/s: a lower bound if the number of calls has no upper bound, nil if the rate is unknown.
func rate(r stats.Func) any {
	if !r.Estimate.Bounded() && r.Seconds > 0 {
		return "≥" + printable.Rate(r.Estimate.Low/r.Seconds)
	}
	return ValueIf(r.Seconds > 0, printable.Rate(r.Rate())) // Seconds is 0 for a truncated recording
}

// sumCell returns the cell TOTAL and the total latency in nanoseconds. If the total is unknown, it returns nil and -1.
func sumCell(r stats.Func) (any, int64) {
	n, _, _, ok := r.Total()
	switch {
	case !timed(r), r.Estimate != nil && (!ok || r.Raw()): // to extrapolate a raw sum would multiply the cost of probes
		return nil, -1
	case r.Estimate == nil:
		n = r.ShownLatency().Sum()
	}
	return printable.Duration(n), n
}

// amountCells returns the cells SUM and AVG, nil if no amount was added up. The sum is that of --sum over all calls, or over
// the traced calls as a lower bound if the number of all calls is unknown.
func amountCells(r stats.Func) (sum, mean any) {
	if r.Amounts == nil || r.Amounts.Count() == 0 {
		return nil, nil
	}
	mean = amountText(r.Amounts.Mean())
	if !r.Estimate.Bounded() {
		return "≥" + amountText(r.Amounts.Sum()), mean
	}
	n, _, _ := r.AmountTotal()
	return amountText(n), mean
}

// callBounds returns the bounds of the number of calls. They are equal if all calls were traced. high is nil if there is
// no upper bound.
func callBounds(r stats.Func) (low, high any) {
	if r.Estimate == nil {
		return r.Calls, r.Calls
	}
	if r.Estimate.Bounded() {
		high = uint64(math.Ceil(r.Estimate.High))
	}
	return uint64(math.Floor(r.Estimate.Low)), high
}

// statistic returns a statistic of latencies and its bounds; each is nil if it is unknown. If not all calls were traced,
// the statistic sum is extrapolated to all calls.
func statistic(r stats.Func, s stats.Statistic) (value, low, high any) {
	if !timed(r) {
		return nil, nil, nil
	}
	if s.Name == "sum" && r.Estimate != nil {
		sum, least, most, ok := r.Total()
		return ValueIf(ok, sum), ValueIf(ok, least), ValueIf(ok, most)
	}
	if r.Bounds == nil {
		return s.Of(r.ShownLatency()), nil, nil
	}
	least, most := r.Bounds.Of(s)
	return s.Of(r.ShownLatency()), least, most
}
