// Package render knows how results look: tables, histograms and footnotes for
// people, JSON lines, CSV and TSV for programs, and redrawing a block of lines on
// a terminal. All of it is written to an io.Writer; what counts mean, the order of
// rows, and where output goes is left to others.
//
// Text that comes from the traced program (names, above all) never reaches a
// writer as it is: see [printable.Text].
package render

import (
	"fmt"
	"slices"
	"strings"
)

// Format is how rows are written.
type Format uint8

const (
	// Table is for people: aligned columns, adaptive units, shortened names.
	Table Format = iota
	// JSON is one object a line.
	JSON
	// CSV has a header row, full names and raw numbers (RFC 4180, lines end in \n).
	CSV
	// TSV is CSV with tabs between cells and no quoting: no cell holds a tab or newline.
	TSV
	// Folded and Pprof are of stacks: see FoldedStacks and PprofStacks.
	Folded
	Pprof
	// Chrome is of calls: see ChromeWriter.
	Chrome
)

var formatNames = [...]string{Table: "table", JSON: "json", CSV: "csv", TSV: "tsv", Folded: "folded", Pprof: "pprof", Chrome: "chrome"}

func (f Format) String() string { return formatNames[f] }

// ParseFormat returns the format of the given name.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return Table, fmt.Errorf("parse output format %q: known are %s", name, strings.Join(formatNames[:], ", "))
}

// Options say what [Functions] writes besides the rows.
type Options struct {
	// Width is the number of columns a table may take; 0 means no limit.
	Width int
	// Latency adds latencies (probe); without it there are only counts (count).
	Latency bool
	// Bucketed says that the kernel kept latencies: of percentiles, bounds are known.
	Bucketed bool
	// Errors adds the number of errors returned to CSV and TSV; the other formats have it
	// where a row does.
	Errors bool
	// Sched adds what latencies were spent with.
	Sched bool
	// Events names the kernel events that Function.Events counts, GROUP:EVENT each.
	Events []string
	// CountFirst adds the number of calls that were counted and not timed to JSON, CSV and
	// TSV; the table has it where a row does.
	CountFirst bool
	// Trends are the rates of the last intervals, by function, oldest first, for the last
	// column of tables; without it there is none.
	Trends map[string][]float64
	// Processes adds the process.
	Processes bool
	// NoHeader leaves out the line with the columns' names.
	NoHeader bool
}
