package trials

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// grid collects measurements in rows and columns.
type grid struct {
	corner     string
	rows, cols []string
	cells      map[[2]string][]float64
	refused    map[[2]string]string // why there is no measurement
	base       string               // the column that the others are compared with, but alone; "" for none
	format     func(col string, v float64) string
}

// alone is the column of what runs without a tracer.
const alone = "no tracer"

// newGrid makes a grid of times, or of numbers with another format.
func newGrid(corner, base string, format func(col string, v float64) string) *grid {
	if format == nil {
		format = func(_ string, v float64) string { return nanoseconds(v) }
	}
	return &grid{corner: corner, base: base, format: format, cells: make(map[[2]string][]float64), refused: make(map[[2]string]string)}
}

func (g *grid) at(row, col string) [2]string {
	if !slices.Contains(g.rows, row) {
		g.rows = append(g.rows, row)
	}
	if !slices.Contains(g.cols, col) {
		g.cols = append(g.cols, col)
	}
	return [2]string{row, col}
}

// add adds a measurement.
func (g *grid) add(row, col string, v float64) {
	at := g.at(row, col)
	g.cells[at] = append(g.cells[at], v)
}

// refuse notes why there is no measurement: of a tool's output, the last line is enough.
func (g *grid) refuse(row, col string, why error) {
	lines := strings.Split(strings.ReplaceAll(why.Error(), "\n", " "), " | ")
	g.refused[g.at(row, col)] = strings.TrimSpace(lines[len(lines)-1])
}

// median is 0 where nothing was measured.
func (g *grid) median(row, col string) float64 {
	v := slices.Sorted(slices.Values(g.cells[[2]string{row, col}]))
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// write writes the medians, each with its ratio to the base column's, and below the
// table why cells are empty.
func (g *grid) write(w *bytes.Buffer) {
	fmt.Fprintf(w, "| %s | %s |\n|%s\n", g.corner, strings.Join(g.cols, " | "), strings.Repeat("---|", len(g.cols)+1))
	var why []string
	for _, row := range g.rows {
		fmt.Fprintf(w, "| %s |", row)
		for _, col := range g.cols {
			base, v := g.median(row, g.base), g.median(row, col)
			switch reason := g.refused[[2]string{row, col}]; {
			case v > 0 && base > 0 && col != g.base && col != alone:
				fmt.Fprintf(w, " %s (%s×) |", g.format(col, v), ratioText(v/base))
			case len(g.cells[[2]string{row, col}]) > 0:
				fmt.Fprintf(w, " %s |", g.format(col, v))
			case reason == "":
				fmt.Fprint(w, " |")
			default:
				why = append(why, fmt.Sprintf("\n– %s: %s\n", col, reason))
				fmt.Fprint(w, " – |")
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, strings.Join(slices.Compact(why), ""))
}

func ratioText(r float64) string {
	switch {
	case r < 0.095:
		return fmt.Sprintf("%.3f", r)
	case r < 9.95:
		return fmt.Sprintf("%.2f", r)
	}
	return whole(r)
}

// nanoseconds shows a time with three digits.
func nanoseconds(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	for ns >= 999.5 && len(units) > 1 {
		ns, units = ns/1000, units[1:]
	}
	return fmt.Sprintf("%.3g %s", ns, units[0])
}

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func megabytes(v float64) string { return whole(v/(1<<20)) + " MB" }
