package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/ftgo/ftgo/internal/stats"
)

// functionsTable writes FUNCTION CALLS RATE/s, with o.Latency P50 P90 P99 MAX, and
// with o.Sched RUN% RUNNABLE% WAIT%, the shares of the latencies' sum, ERRORS ERR% where
// any function returns errors and that was asked for, and UNWOUND OPEN LOST where any function has such calls. A latency is marked with ~
// if calls of its function were lost: it speaks for the others only; with * if its
// function was left to counting for its rate; with ≈ if probes took more than it is, and
// with < if it has in it what probes cost, which may be all of it. COUNTED is what was only counted.
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
	{"LOST", func(r stats.Row) uint64 { return r.Lost }},
	{"COUNTED", func(r stats.Row) uint64 { return r.CountedOnly }},
}

func functionsGrid(rows []stats.Row, o Options, compactCalls bool) grid {
	g := grid{header: []string{"FUNCTION", "CALLS", "RATE/s"}, rows: make([][]string, len(rows))}
	for i, row := range rows {
		calls := strconv.FormatUint(row.Calls, 10)
		if compactCalls {
			calls = compact(float64(row.Calls))
		}
		g.rows[i] = []string{Escape(row.Name), calls, rate(row.Rate)}
	}
	if o.Processes {
		g.header = slices.Insert(g.header, 1, "PID")
		for i, row := range rows {
			g.rows[i] = slices.Insert(g.rows[i], 1, process(row.PID))
		}
	}
	if o.Latency {
		g.header = append(g.header, "P50", "P90", "P99", "MAX")
		for i, row := range rows {
			g.rows[i] = append(g.rows[i], latencies(row)...)
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
			g.rows[i] = append(g.rows[i], compact(float64(column.count(row))))
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
	return []string{compact(float64(row.Errors)), percent(row.Errors, row.Completed)}
}

// latencies returns the cells P50, P90, P99 and MAX.
func latencies(row stats.Row) []string {
	h := row.Latency
	mark := ""
	if row.TooOften > 0 {
		mark = "*"
	}
	if h == nil || h.Count() == 0 {
		none := cmp.Or(mark, "-")
		return []string{none, none, none, none}
	}
	if row.Lost > 0 {
		mark += "~"
	}
	var cells []string
	for _, s := range stats.Statistics {
		switch s.Name {
		case "p50", "p90", "p99", "max":
			cells = append(cells, mark+correctionMark(row, s.Of)+Duration(s.Of(h)))
		}
	}
	return cells
}

func process(pid int) string {
	if pid == 0 {
		return "others"
	}
	return strconv.Itoa(pid)
}
