package render

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// functionsTable writes FUNCTION CALLS RATE/s, with o.Latency P50 P90 P99 MAX, and
// with o.Sched RUN% RUNNABLE% WAIT%, the shares of the latencies' sum, ERRORS ERR% where
// any function returns errors and that was asked for, and UNWOUND OPEN LOST where any function has such calls. A latency is marked with ~
// if calls of its function were lost: it speaks for the others only; with * if its
// function was left to counting for its rate; with ≈ if probes took more than it is, and
// with < if it has in it what probes cost, which may be all of it. COUNTED is what was only counted.
// With o.Bucketed there is MEAN, which is exact, and the others have ≤.
func functionsTable(w io.Writer, rows []stats.Row, o Options) error {
	return writeTable(w, o.Width, func(compact bool) grid {
		g := functionsGrid(rows, o, compact)
		g.bare = o.NoHeader
		return g
	})
}

// rest are the columns of calls that have no latency. They are narrow, with large
// counts as 1.25M, to leave room for names; [Footer] and JSON have the exact ones.
var rest = [...]struct {
	name  string
	count func(stats.Row) uint64
}{
	{"UNWOUND", func(r stats.Row) uint64 { return r.Unwound }},
	{"OPEN", func(r stats.Row) uint64 { return r.Open }},
	{"UNFINISHED", func(r stats.Row) uint64 { return r.Unfinished }},
	{"LOST", func(r stats.Row) uint64 { return r.Lost }},
	{"COUNTED", func(r stats.Row) uint64 { return r.CountedOnly }},
}

func functionsGrid(rows []stats.Row, o Options, compactCalls bool) grid {
	g := grid{header: []string{"FUNCTION", "CALLS", "RATE/s"}, rows: make([][]string, len(rows))}
	for i, row := range rows {
		calls := strconv.FormatUint(row.Calls, 10)
		if compactCalls {
			calls = units.Compact(float64(row.Calls))
		}
		g.rows[i] = []string{printable.Text(row.Name), calls, units.Rate(row.Rate)}
	}
	if o.Processes {
		g.header = slices.Insert(g.header, 1, "PID")
		for i, row := range rows {
			g.rows[i] = slices.Insert(g.rows[i], 1, process(row.PID))
		}
	}
	if o.Latency {
		for _, s := range stats.Statistics {
			if !inTable(s, o) {
				continue
			}
			g.header = append(g.header, strings.ToUpper(s.Name))
			for i, row := range rows {
				g.rows[i] = append(g.rows[i], latency(row, s, o))
			}
		}
	}
	if o.Sched {
		addSplits(&g, rows)
	}
	if slices.ContainsFunc(rows, func(r stats.Row) bool { return r.ReturnsErrors }) {
		g.header = append(g.header, "ERRORS", "ERR%")
		for i, row := range rows {
			g.rows[i] = append(g.rows[i], errorCells(row)...)
		}
	}
	for _, column := range rest {
		if !slices.ContainsFunc(rows, func(r stats.Row) bool { return column.count(r) > 0 }) {
			continue
		}
		g.header = append(g.header, column.name)
		for i, row := range rows {
			g.rows[i] = append(g.rows[i], units.Compact(float64(column.count(row))))
		}
	}
	addEvents(&g, rows, o.Events)
	if o.Trends != nil {
		g.header = append(g.header, "TREND")
		for i, row := range rows {
			g.rows[i] = append(g.rows[i], spark(o.Trends[row.Name]))
		}
	}
	g.left = make([]bool, len(g.header))
	g.left[0], g.left[len(g.left)-1] = true, o.Trends != nil
	return g
}

// errorCells returns the cells ERRORS and ERR%, the share of the calls that returned.
func errorCells(row stats.Row) []string {
	if !row.ReturnsErrors || row.Completed == 0 {
		return []string{"-", "-"}
	}
	return []string{units.Compact(float64(row.Errors)), units.Percent(row.Errors, row.Completed)}
}

// inTable tells whether a table has a statistic. It has no room for a mean where percentiles
// are more than bounds.
func inTable(s stats.Statistic, o Options) bool {
	return s.Name != "min" && s.Name != "sum" && (s.Name != "mean" || o.Bucketed)
}

// latency returns the cell of a statistic.
func latency(row stats.Row, s stats.Statistic, o Options) string {
	mark := ""
	if row.TooOften > 0 {
		mark = "*"
	}
	if row.Latency == nil || row.Latency.Count() == 0 {
		return cmp.Or(mark, "-")
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

func process(pid int) string {
	if pid == 0 {
		return "others"
	}
	return strconv.Itoa(pid)
}
