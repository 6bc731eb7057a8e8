package render

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// rowColumn is a column of functions.
type rowColumn = column[stats.Row]

type rowColumns []rowColumn

func (c *rowColumns) add(name string, show bool, of func(stats.Row) any) {
	*c = append(*c, rowColumn{name, show, of})
}

// Functions writes a row for each function, in the order given.
func Functions(w io.Writer, f Format, rows []stats.Row, o Options) error {
	switch f {
	case JSON:
		return writeData(w, f, false, functionMembers(o), rows...)
	case CSV, TSV:
		return writeData(w, f, !o.NoHeader, functionRecords(o), rows...)
	}
	return writeTable(w, o.Width, o.NoHeader, rows, func(compact bool) []rowColumn {
		return functionTable(rows, o, compact)
	})
}

// functionTable has columns of errors, and of calls that have no latency, where any function has
// such calls. A latency is marked with ~ if calls of its function were lost: it speaks for the
// others only; with * if its function was left to counting for its rate; with ≈ if probes took
// more than it is, and with < if it has in it what probes cost, which may be all of it. With
// o.Bucketed there is MEAN, which is exact, and the others have ≤.
func functionTable(rows []stats.Row, o Options, compact bool) rowColumns {
	columns := rowColumns{
		{"FUNCTION", true, func(r stats.Row) any { return r.Name }},
		{"PID", o.Processes, func(r stats.Row) any { return cmp.Or(nonzero(r.PID), any("others")) }},
		{"CALLS", true, func(r stats.Row) any {
			if compact {
				return units.Compact(float64(r.Calls))
			}
			return r.Calls
		}},
		{"RATE/s", true, func(r stats.Row) any { return units.Rate(r.Rate) }},
	}
	for _, s := range stats.Statistics {
		// There is no room for a mean where percentiles are more than bounds.
		show := o.Latency && s.Name != "min" && s.Name != "sum" && (s.Name != "mean" || o.Bucketed)
		columns.add(strings.ToUpper(s.Name), show, func(r stats.Row) any { return latency(r, s, o) })
	}
	for _, p := range splitParts {
		columns.add(strings.ToUpper(p.short)+"%", o.Sched, func(r stats.Row) any {
			sum := r.Split.Sum()
			return known(sum > 0, units.Percent(uint64(max(p.of(r.Split), 0)), uint64(sum)))
		})
	}
	errors := slices.ContainsFunc(rows, func(r stats.Row) bool { return r.ReturnsErrors })
	ends := func(r stats.Row) bool { return r.ReturnsErrors && r.Completed > 0 }
	columns.add("ERRORS", errors, func(r stats.Row) any { return known(ends(r), units.Compact(float64(r.Errors))) })
	columns.add("ERR%", errors, func(r stats.Row) any { return known(ends(r), units.Percent(r.Errors, r.Completed)) })
	// Calls that have no latency are told with large counts as 1.25M, to leave room for names;
	// [Footer] and JSON have the exact ones.
	rest := func(name string, count func(stats.Row) uint64) {
		show := slices.ContainsFunc(rows, func(r stats.Row) bool { return count(r) > 0 })
		columns.add(name, show, func(r stats.Row) any { return units.Compact(float64(count(r))) })
	}
	rest("UNWOUND", func(r stats.Row) uint64 { return r.Unwound })
	rest("OPEN", func(r stats.Row) uint64 { return r.Open })
	rest("UNFINISHED", func(r stats.Row) uint64 { return r.Unfinished })
	rest("LOST", func(r stats.Row) uint64 { return r.Lost })
	rest("COUNTED", func(r stats.Row) uint64 { return r.CountedOnly })
	columns = append(columns, eventColumns(rows, o.Events)...)
	columns.add("TREND", o.Trends != nil, func(r stats.Row) any { return spark(o.Trends[r.Name]) })
	return columns
}

// maxEvents is how many kinds of kernel events a table has columns for: those that most
// happened of. JSON and CSV have all.
const maxEvents = 5

// eventColumns tell how many kernel events happened per call.
func eventColumns(rows []stats.Row, names []string) (columns rowColumns) {
	order := make([]int, len(names))
	totals := make([]uint64, len(names))
	for i := range names {
		order[i] = i
		for _, row := range rows {
			totals[i] += eventCount(row, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(totals[b], totals[a]) })
	order = order[:min(len(order), maxEvents)]
	slices.Sort(order)
	for _, i := range order {
		_, name, _ := strings.Cut(names[i], ":")
		columns.add(name+"/call", true, func(r stats.Row) any {
			return known(r.Calls > 0, units.Rate(float64(eventCount(r, i))/float64(r.Calls)))
		})
	}
	return columns
}

func eventCount(row stats.Row, i int) uint64 {
	if i >= len(row.Events) {
		return 0
	}
	return row.Events[i]
}

// functionCounts are what records and JSON begin with.
func functionCounts(o Options) rowColumns {
	return rowColumns{
		{"function", true, func(r stats.Row) any { return r.Name }},
		{"pid", o.Processes, func(r stats.Row) any { return r.PID }},
		{"calls", true, func(r stats.Row) any { return r.Calls }},
		{"completed", true, func(r stats.Row) any { return r.Completed }},
		{"unwound", !o.Bucketed, func(r stats.Row) any { return r.Unwound }},
		{"open", !o.Bucketed, func(r stats.Row) any { return r.Open }},
		{"unfinished", o.Bucketed, func(r stats.Row) any { return r.Unfinished }},
		{"lost", true, func(r stats.Row) any { return r.Lost }},
	}
}

// timed tells whether a function has latencies. Without them its cells are empty, not 0.
func timed(r stats.Row) bool { return r.Latency != nil && r.Latency.Count() > 0 }

// functionRecords are the columns of CSV and TSV.
func functionRecords(o Options) rowColumns {
	columns := functionCounts(o)
	columns.add("rate", true, func(r stats.Row) any { return number(strconv.FormatFloat(r.Rate, 'f', 3, 64)) })
	for _, s := range stats.Statistics {
		name := s.Name + "_ns"
		if o.Bucketed && s.Bucketed == stats.AtMost {
			name += "_at_most"
		}
		columns.add(name, o.Latency && !(o.Bucketed && s.Bucketed == stats.Unknown), func(r stats.Row) any {
			if !timed(r) {
				return nil
			}
			return s.Of(r.Latency)
		})
	}
	for _, p := range splitParts {
		columns.add(p.name+"_ns", o.Sched, func(r stats.Row) any { return known(r.Completed > 0, p.of(r.Split)) })
	}
	columns.add("errors", o.Errors, func(r stats.Row) any { return known(r.ReturnsErrors, r.Errors) })
	for i, name := range o.Events {
		columns.add(name, true, func(r stats.Row) any { return eventCount(r, i) })
	}
	for _, s := range stats.Statistics {
		for i, end := range [...]string{"_low_ns", "_high_ns"} {
			columns.add(s.Name+end, o.Latency && !o.Bucketed, func(r stats.Row) any {
				if !timed(r) || r.Bounds == nil {
					return nil // it is not known what probes cost
				}
				low, high := r.Bounds.Of(s)
				return [...]int64{low, high}[i]
			})
		}
	}
	columns.add("raw", o.Latency && !o.Bucketed, func(r stats.Row) any { return known(timed(r), r.Raw || r.Bounds == nil) })
	columns.add("counted_only", o.CountFirst, func(r stats.Row) any { return r.CountedOnly })
	columns.add("too_often", o.CountFirst, func(r stats.Row) any {
		return known(r.TooOften > 0, number(strconv.FormatFloat(r.TooOften, 'f', 3, 64)))
	})
	return columns
}

// functionMembers are those of JSON.
func functionMembers(o Options) rowColumns {
	columns := append(rowColumns{{"type", true, func(stats.Row) any { return "function" }}}, functionCounts(o)...)
	// latencies adds what is known of a row that has latencies.
	latencies := func(name string, show bool, of func(stats.Row) any) {
		columns.add(name, show && o.Latency, func(r stats.Row) any {
			if !timed(r) {
				return nil
			}
			return of(r)
		})
	}
	bounds := func(name string, of func(*stats.Bounds, stats.Statistic) int64) {
		latencies(name, true, func(r stats.Row) any {
			if r.Bounds == nil {
				return nil
			}
			return statistics(func(s stats.Statistic) any { return of(r.Bounds, s) })
		})
	}
	columns.add("unsure", true, func(r stats.Row) any { return nonzero(r.Unsure) })
	columns.add("errors", true, func(r stats.Row) any { return known(r.ReturnsErrors, r.Errors) })
	columns.add("counted_only", o.CountFirst, func(r stats.Row) any { return r.CountedOnly })
	columns.add("too_often", o.CountFirst, func(r stats.Row) any { return nonzero(r.TooOften) })
	columns.add("rate", true, func(r stats.Row) any { return r.Rate })
	latencies("ns", true, func(r stats.Row) any {
		return statistics(func(s stats.Statistic) any {
			return known(!o.Bucketed || s.Bucketed == stats.Exact, s.Of(r.Latency))
		})
	})
	// Between low and high is what the calls took without probes; raw is with them, and so is
	// ns if it says raw.
	bounds("ns_low", func(b *stats.Bounds, s stats.Statistic) int64 { low, _ := b.Of(s); return low })
	bounds("ns_high", func(b *stats.Bounds, s stats.Statistic) int64 { _, high := b.Of(s); return high })
	bounds("ns_raw", func(b *stats.Bounds, s stats.Statistic) int64 { return s.Of(&b.Raw) })
	latencies("raw", true, func(r stats.Row) any { return nonzero(r.Raw && r.Bounds != nil) })
	latencies("sched", o.Sched, func(r stats.Row) any {
		var parts object
		for _, p := range splitParts {
			parts = append(parts, member{p.name, p.of(r.Split)})
		}
		return parts
	})
	latencies("ns_at_most", o.Bucketed, func(r stats.Row) any {
		return statistics(func(s stats.Statistic) any { return known(s.Bucketed == stats.AtMost, s.Of(r.Latency)) })
	})
	latencies("histogram", true, func(r stats.Row) any {
		var buckets []object
		for _, b := range r.Latency.Buckets(1) {
			buckets = append(buckets, object{{"from", b.From}, {"to", b.To}, {"count", b.Count}})
		}
		return known(buckets != nil, buckets)
	})
	// Events have no entry for what never happened.
	columns.add("events", len(o.Events) > 0, func(r stats.Row) any {
		counts := make(map[string]uint64)
		for i, name := range o.Events {
			if n := eventCount(r, i); n > 0 {
				counts[name] = n
			}
		}
		return counts
	})
	return columns
}

func statistics(of func(stats.Statistic) any) (o object) {
	for _, s := range stats.Statistics {
		o = append(o, member{s.Name, of(s)})
	}
	return o
}

// latency returns the cell of a statistic.
func latency(row stats.Row, s stats.Statistic, o Options) any {
	mark := ""
	if row.TooOften > 0 {
		mark = "*"
	}
	if !timed(row) {
		return nonzero(mark)
	}
	if row.Lost > 0 {
		mark += "~"
	}
	ns := s.Of(row.Latency)
	if o.Bucketed && s.Bucketed == stats.AtMost {
		return mark + atMost(ns)
	}
	return mark + correctionMark(row, s.Of) + units.Duration(ns)
}

// atMost writes a bound of ns nanoseconds, rounded up to what [Duration] shows of it.
func atMost(ns int64) string {
	step := int64(1)
	for ns/step > 999 {
		step *= 10
	}
	if rest := ns % step; rest > 0 && ns <= math.MaxInt64-step {
		ns += step - rest
	}
	return "≤" + units.Duration(ns)
}
