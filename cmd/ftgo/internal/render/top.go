package render

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// TopColumns are those of the functions on a full screen, by what they are worth, and TopOrder is the one
// that they are sorted by at first: the total.
var TopColumns = []string{"CALLS", "RATE/s", "TOTAL", "SELF", "P50", "P99", "ERRORS", "COUNTED"}

// TopRate is where the rate is, whose key is in thousandths.
const TopRate = 1

const TopOrder = 2

// TopCells are the cells of a function. Its rate is always that of the last interval, which recent has.
func TopCells(r, recent stats.Row) []top.Cell {
	number := func(n uint64) top.Cell {
		if n == 0 {
			return top.Cell{}
		}
		return top.Cell{Text: units.Compact(float64(n)), Key: int64(n)}
	}
	time := func(name string) top.Cell {
		for _, s := range stats.Statistics {
			if s.Name != name {
				continue
			}
			text, _ := latency(r, s, Options{}).(string)
			if !timed(r) {
				return top.Cell{Text: text, Key: -1}
			}
			return top.Cell{Text: text, Key: s.Of(r.Latency)}
		}
		panic("no statistic " + name)
	}
	self := top.Cell{Key: -1}
	if timed(r) && !r.Raw && r.Bounds != nil {
		self = top.Cell{Text: units.Duration(r.Self), Key: r.Self}
	}
	errors := top.Cell{Key: -1}
	if r.ReturnsErrors && r.Completed > 0 {
		errors = top.Cell{Text: units.Compact(float64(r.Errors)), Key: int64(r.Errors)}
	}
	return []top.Cell{
		{Text: units.Compact(float64(r.Calls)), Key: int64(r.Calls)}, {Text: units.Rate(recent.Rate), Key: int64(recent.Rate * 1000)},
		time("sum"), self, time("p50"), time("p99"), errors, number(r.CountedOnly),
	}
}

// TopCost says what probes cost the program, in the interval after what they had cost before and from the
// beginning on, and what was lost.
func TopCost(s *stats.Summary, before *stats.Probing) string {
	cost := "what probes cost is not known yet"
	if p := s.Probing; p != nil && p.CPU > 0 {
		cost = fmt.Sprintf("probes take %s of the program's CPU time", share(p.Share(p.NS)))
		if before != nil && p.CPU > before.CPU {
			recent := stats.Probing{CPU: p.CPU - before.CPU}
			cost = fmt.Sprintf("probes take %s of the program's CPU time, %s since the start", share(recent.Share(p.NS-before.NS)), share(p.Share(p.NS)))
		}
		if p.Others > 0 {
			cost += ", and " + units.Duration(int64(p.Others)) + " of other processes'"
		}
	}
	if s.Lost > 0 {
		cost += fmt.Sprintf("; %s lost", units.Plural(s.Lost, "event"))
	}
	return cost
}

// TopNumbers are a line on the calls of a function, and one on what they spent their time with.
func TopNumbers(whole, recent stats.Row) (numbers, split string) {
	numbers = fmt.Sprintf("%s, %s/s", units.Plural(whole.Calls, "call"), units.Rate(recent.Rate))
	for _, s := range stats.Statistics {
		if s.Name[0] == 'p' && timed(whole) || s.Name == "max" && timed(whole) {
			numbers += fmt.Sprintf("  %s %v", s.Name, latency(whole, s, Options{}))
		}
	}
	if whole.Unwound > 0 {
		numbers += fmt.Sprintf("  %d unwound", whole.Unwound)
	}
	sum := whole.Split.Sum()
	if sum <= 0 {
		return numbers, ""
	}
	var parts []string
	for _, p := range splitParts {
		parts = append(parts, p.name+" "+units.Percent(uint64(max(p.of(whole.Split), 0)), uint64(sum)))
	}
	split = strings.Join(parts, ", ")
	if waits := reasons(whole.Waits); waits != "" {
		split += ": " + waits
	}
	return numbers, split
}
