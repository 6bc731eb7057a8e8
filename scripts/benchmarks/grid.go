//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// grid collects measurements in rows and columns.
type grid struct {
	corner     string
	rows, cols []string
	cells      map[[2]string][]float64
	refused    map[[2]string]string // why there is no measurement
	// base is the column that the others are compared with, "" for none; notBase are
	// columns that aren't.
	base    string
	notBase []string
	format  func(row, col string, v float64) string
}

func newGrid(corner, base string, format func(row, col string, v float64) string) *grid {
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

// add takes a measurement.
func (g *grid) add(row, col string, v float64) {
	at := g.at(row, col)
	g.cells[at] = append(g.cells[at], v)
}

// refuse tells why there is none.
func (g *grid) refuse(row, col string, why error) {
	text := why.Error()
	if i := strings.LastIndex(text, " | "); i >= 0 { // of what the tool said, the last line will do
		text = text[i+len(" | "):]
	}
	g.refused[g.at(row, col)] = strings.TrimSpace(text)
}

// median is 0 where nothing was measured.
func (g *grid) median(row, col string) float64 {
	v := slices.Sorted(slices.Values(g.cells[[2]string{row, col}]))
	switch n := len(v); {
	case n == 0:
		return 0
	case n%2 == 1:
		return v[n/2]
	default:
		return (v[n/2-1] + v[n/2]) / 2
	}
}

// write writes the medians, each with its ratio to the base column's, and below the
// table why cells are empty.
func (g *grid) write(w *bytes.Buffer) {
	fmt.Fprintf(w, "| %s | %s |\n|%s\n", g.corner, strings.Join(g.cols, " | "), strings.Repeat("---|", len(g.cols)+1))
	var why []string
	for _, row := range g.rows {
		fmt.Fprintf(w, "| %s |", row)
		for _, col := range g.cols {
			at := [2]string{row, col}
			base := g.median(row, g.base)
			switch reason := g.refused[at]; {
			case len(g.cells[at]) == 0 && reason == "":
				fmt.Fprint(w, " |")
			case len(g.cells[at]) == 0:
				if !slices.Contains(why, col+": "+reason) {
					why = append(why, col+": "+reason)
				}
				fmt.Fprint(w, " – |")
			case g.base == "" || col == g.base || base == 0 || slices.Contains(g.notBase, col):
				fmt.Fprintf(w, " %s |", g.format(row, col, g.median(row, col)))
			default:
				fmt.Fprintf(w, " %s (%s×) |", g.format(row, col, g.median(row, col)), ratioText(g.median(row, col)/base))
			}
		}
		fmt.Fprintln(w)
	}
	for _, reason := range why {
		fmt.Fprintf(w, "\n– %s\n", strings.ReplaceAll(reason, "\n", " "))
	}
}

func ratioText(r float64) string {
	switch {
	case r < 0.095:
		return fmt.Sprintf("%.3f", r)
	case r < 9.95:
		return fmt.Sprintf("%.2f", r)
	}
	return fmt.Sprintf("%.0f", r)
}

// nanoseconds shows a time with three digits.
func nanoseconds(ns float64) string {
	switch d := time.Duration(ns); {
	case ns < 10:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1000:
		return fmt.Sprintf("%.0f ns", ns)
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return fmt.Sprintf("%.3g s", ns/1e9)
}

// check compares a measurement with what it is to be at most, or at least.
type check struct {
	what       string
	got, limit float64
	atLeast    bool
	format     func(float64) string
}

func (c check) ok() bool {
	if c.atLeast {
		return c.got >= c.limit
	}
	return c.got <= c.limit
}

func (b *bench) atMost(what string, got, limit float64, format func(float64) string) {
	b.checks = append(b.checks, check{what: what, got: got, limit: limit, format: format})
}

// ratioAtMost checks nothing where one of both was not measured.
func (b *bench) ratioAtMost(what string, got, of, limit float64) {
	if got > 0 && of > 0 {
		b.atMost(what, got/of, limit, ratioText)
	}
}
