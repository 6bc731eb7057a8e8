package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// histogramUnits are tried from the finest; the labels are bcc's.
var histogramUnits = [...]struct {
	label string
	ns    int64
}{{"nsecs", 1}, {"usecs", 1e3}, {"msecs", 1e6}, {"secs", 1e9}}

// A histogram's line is 38 columns, the counts eight of them, and the bar.
const (
	barWidth   = 40
	countWidth = 8
	// maxEdge is the largest label that fits into its ten columns.
	maxEdge = 1 << 33
)

// Histograms writes the latency distribution of each function that completed a
// call, each after an empty line, in the power-of-two form of bcc's funclatency -F
// (print_log2_hist in src/python/bcc/table.py), without its leading empty ranges.
// The unit is the largest that the fastest call has at least one of, or a larger
// one where the slowest call would need more than ten digits.
func Histograms(w io.Writer, rows []stats.Row, o Options) error {
	var text bytes.Buffer
	for _, row := range rows {
		if timed(row) {
			writeHistogram(&text, row, o)
		}
	}
	return write(w, "histogram", text.Bytes())
}

func writeHistogram(text *bytes.Buffer, row stats.Row, o Options) {
	fmt.Fprintf(text, "\nFunction = %s", printable.Text(row.Name))
	if row.Lost > 0 {
		fmt.Fprintf(text, " (%d of %d calls, the others' latencies were lost)", row.Latency.Count(), row.Calls)
	}
	text.WriteByte('\n')

	unit := histogramUnits[0]
	for _, coarser := range histogramUnits[1:] {
		if o.Bucketed {
			break // the kernel's ranges are of nanoseconds
		}
		if row.Latency.Quantile(0) >= coarser.ns || row.Latency.Quantile(1)/unit.ns >= maxEdge {
			unit = coarser
		}
	}
	buckets := row.Latency.Buckets(unit.ns)
	var most uint64
	for _, b := range buckets {
		most = max(most, b.Count)
	}
	counts := max(len(strconv.FormatUint(most, 10)), countWidth)
	bar := barWidth - (counts - countWidth)

	fmt.Fprintf(text, "     %-19s : %-*s  distribution\n", unit.label, counts, "count")
	for _, b := range buckets {
		stars := strings.Repeat("*", int(float64(bar)*float64(b.Count)/float64(most)))
		fmt.Fprintf(text, "%10d -> %-10d : %-*d |%-*s|\n", b.From/unit.ns, (b.To-1)/unit.ns, counts, b.Count, bar, stars)
	}
}

// sparks are eighths of a line's height.
var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws numbers, none negative, as a row of bars: the largest is the highest, and 0 is
// a blank.
func spark(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	top := slices.Max(values)
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = ' '
		if v > 0 {
			line[i] = sparks[min(int(v/top*float64(len(sparks))), len(sparks)-1)]
		}
	}
	return string(line)
}
