package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Cell is a number of a row on a full screen: its text, "" if it is unknown, and its sort key.
type Cell struct {
	Text string
	Key  int64
}

// TopColumns returns the columns of functions on a full screen, the most important first. If sched is true, WAIT is
// among them.
func TopColumns(sched bool) []string {
	columns := []string{"CALLS", "RATE/s", "TOTAL", "SELF", "P50", "P99"}
	if sched {
		columns = append(columns, "WAIT")
	}
	return append(columns, "ERRORS", "TIMED")
}

// TopOrder is the index of TOTAL, the column by which rows are sorted at first.
const TopOrder = 2

// cellIf returns a cell with a text and a key if ok, else the cell of an unknown number.
func cellIf(ok bool, text any, key int64) Cell {
	if !ok {
		return Cell{Key: -1}
	}
	return Cell{Text: fmt.Sprint(text), Key: key}
}

// TopCells returns the cells of the row r. Only the rate comes from recent, the function's row in the last interval. See
// [topRate] for the exception.
func TopCells(r, recent stats.Func, sched bool) []Cell {
	quantile := func(name string) Cell {
		s := stats.Statistics[slices.IndexFunc(stats.Statistics[:], func(s stats.Statistic) bool { return s.Name == name })]
		return cellIf(timed(r), latency(r, s), s.Of(cmp.Or(r.ShownLatency(), noLatencies)))
	}
	calls, timedCell := printable.Compact(float64(r.Calls)), Cell{}
	if r.Estimate != nil {
		calls, timedCell = estimate(r.Estimate), Cell{Text: printable.Compact(float64(r.Completed)), Key: int64(r.Completed)}
	}
	total, ns := sumCell(r)
	own, known := r.SelfTotal()
	cells := []Cell{
		{Text: calls, Key: int64(r.Count())}, topRate(r, recent),
		cellIf(ns >= 0, total, ns), cellIf(known, printable.Duration(own), own), quantile("p50"), quantile("p99"),
	}
	if sched {
		waiting := r.ShownSplit().Waiting
		cells = append(cells, cellIf(timed(r), printable.Duration(waiting), waiting))
	}
	return append(cells, cellIf(r.ReturnsErrors && r.Completed > 0, printable.Compact(float64(r.Errors)), int64(r.Errors)), timedCell)
}

// topRate returns the rate of recent, the row of the last interval. If the budget is the reason why the last interval has
// no traced calls, topRate returns the estimated rate of whole.
func topRate(whole, recent stats.Func) Cell {
	if recent.Estimate != nil && recent.Calls == 0 {
		return Cell{Text: "≈" + printable.Rate(whole.Rate()), Key: int64(whole.Rate() * 1000)}
	}
	return Cell{Text: printable.Rate(recent.Rate()), Key: int64(recent.Rate() * 1000)}
}

// TopCost returns a line on the cost of probes in the last interval and since the start. before is the cost at the start of
// the last interval. The line also has the budget, the CPU time of ftgo and the number of lost events.
func TopCost(s *stats.Summary, before *stats.Probing) string {
	cost := "the cost of probes is not known yet"
	if p := s.Probing; p != nil && p.CPU > 0 {
		whole := printable.Share(p.Share(p.NS))
		cost = fmt.Sprintf("probes take %s of its CPU time", whole)
		if before != nil && p.CPU > before.CPU {
			now := stats.Probing{CPU: p.CPU - before.CPU}
			share := now.Share(max(p.NS-before.NS, 0)) // the estimate of a hit's cost may have decreased
			cost = fmt.Sprintf("probes take %s of its CPU time, since the start %s", printable.Share(share), whole)
		}
		if p.Others > 0 {
			cost += ", and " + printable.Duration(int64(p.Others)) + " of other processes'"
		}
	}
	if s.Budget > 0 {
		cost += fmt.Sprintf(", budget %.4g%%", 100*s.Budget)
	}
	if own := s.OwnShare(); own > 0 {
		cost += ", ftgo " + printable.Share(own)
	}
	if s.Lost > 0 {
		cost += fmt.Sprintf("; %s lost", printable.Plural(s.Lost, "event"))
	}
	return cost
}

// TopNumbers returns a line on the calls of a function, and a line on the parts of their latencies, "" if these are unknown.
func TopNumbers(whole, recent stats.Func) (numbers, split string) {
	numbers = fmt.Sprintf("%s, %s/s", printable.Plural(whole.Count(), "call"), topRate(whole, recent).Text)
	for _, s := range stats.Statistics {
		if s.Name[0] == 'p' && timed(whole) || s.Name == "max" && timed(whole) {
			numbers += fmt.Sprintf("  %s %v", s.Name, latency(whole, s))
		}
	}
	if whole.Estimate != nil {
		numbers += fmt.Sprintf("  an estimate, %s timed", printable.Compact(float64(whole.Completed)))
	}
	if whole.Unwound > 0 {
		numbers += fmt.Sprintf("  %d unwound", whole.Unwound)
	}
	spent := whole.ShownSplit()
	sum := spent.Sum()
	if sum <= 0 {
		return numbers, ""
	}
	var parts []string
	for _, p := range splitParts {
		parts = append(parts, p.name+" "+printable.Percent(uint64(max(p.ns(spent), 0)), uint64(sum)))
	}
	split = strings.Join(parts, ", ")
	if waits := reasons(whole.Waits); waits != "" {
		split += ": " + waits
	}
	return numbers, split
}
