package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// maxEvents is how many kinds of kernel events a table has columns for: those that most
// happened of. JSON and CSV have all.
const maxEvents = 5

// addEvents adds a column for each kernel event: how many happened per call.
func addEvents(g *grid, rows []stats.Row, names []string) {
	order := make([]int, len(names))
	totals := make([]uint64, len(names))
	for i := range names {
		order[i] = i
		for _, row := range rows {
			totals[i] += eventCount(row, i)
		}
	}
	if len(order) > maxEvents {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(totals[b], totals[a]) })
		order = order[:maxEvents]
		slices.Sort(order)
	}
	for _, i := range order {
		_, name, _ := strings.Cut(names[i], ":")
		g.header = append(g.header, printable.Text(name)+"/call")
		for k, row := range rows {
			cell := "-"
			if row.Calls > 0 {
				cell = units.Rate(float64(eventCount(row, i)) / float64(row.Calls))
			}
			g.rows[k] = append(g.rows[k], cell)
		}
	}
}

func eventCount(row stats.Row, i int) uint64 {
	if i >= len(row.Events) {
		return 0
	}
	return row.Events[i]
}

// eventObject is a row's counts by name, nil if no events were asked for.
func eventObject(row stats.Row, names []string) map[string]uint64 {
	if len(names) == 0 {
		return nil
	}
	counts := make(map[string]uint64)
	for i, name := range names {
		if n := eventCount(row, i); n > 0 {
			counts[name] = n
		}
	}
	return counts
}

func eventRecord(row stats.Row, names []string) (cells []string) {
	for i := range names {
		cells = append(cells, strconv.FormatUint(eventCount(row, i), 10))
	}
	return cells
}
