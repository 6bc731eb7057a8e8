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

// layouts are the layouts of a table, from wide to narrow. WriteTable uses the first that fits.
var layouts = [...]layout{
	{gap: 2, minName: 24}, {gap: 1, minName: 24}, {gap: 1, minName: 24, without: 1}, {gap: 1, minName: 24, without: 2},
	{gap: 1, minName: 24, without: 3}, {gap: 1, minName: 16, without: 4}, {gap: 1, minName: 12, compact: true, without: 5},
}

type layout struct {
	gap     int  // the number of blanks between columns, 1 or 2
	minName int  // the smallest width in columns to which names in the first column are shortened
	compact bool // shorten large numbers of calls, like 1.25M
	without int  // the number of elements of expendable to leave out
	cut     int  // the number of columns to leave out on the right
}

// expendable are the columns that narrow tables leave out, the first element first. An element may name several columns.
var expendable = []string{"POSITION", "TREND ABI", "P90 OFFSET", "MAX SIZE", "SHARE"}

// minColumns is the number of columns of the narrowest table.
const minColumns = 2

// minNote is the smallest width, in columns of the terminal, to which the table's last column is shortened, if it is one
// of textColumns.
const minNote = 16

// textColumns are aligned left, like the first column. All other columns contain numbers and are aligned right.
var textColumns = []string{"VALUE", "POSITION", "ABI", "ENTRY", "TYPE", "NOTE", "TREND", "WAITS FOR", "CHANGED"}

// WriteTable writes a table that fits into width columns. A width of 0 means no limit. If even the narrowest layout is too
// wide, WriteTable leaves out columns on the right. It never cuts numbers or wraps cells. columns converts a row to cells,
// and is called with a zero row for the header. If compact is true, it shortens large numbers of calls.
func WriteTable[R any](w io.Writer, width int, rows []R, columns func(row R, compact bool) Row) error {
	var t table
	var chosen layout
	for i := 0; ; i++ {
		chosen = layouts[min(i, len(layouts)-1)]
		chosen.cut = max(i+1-len(layouts), 0)
		if t = newTable(rows, chosen, columns); width <= 0 || t.fit(width, chosen) || chosen.cut > 0 && len(t.left) == minColumns {
			break
		}
	}
	return write(w, "table", t.text(chosen.gap))
}

// ShortNames returns a map from the names of rows to short names, nil if full is true.
func ShortNames[R any](full bool, rows []R, name func(R) string) map[string]string {
	if full {
		return nil
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = name(row)
	}
	return printable.ShortNames(names)
}

// table contains the cells of a table.
type table struct {
	lines [][]string // printable cells, the header first
	left  []bool     // the columns that are aligned left
}

func newTable[R any](rows []R, l layout, columns func(row R, compact bool) Row) (t table) {
	without := strings.Fields(strings.Join(expendable[:l.without], " "))
	add := func(o Row) {
		line := make([]string, 0, len(o))
		for _, m := range o {
			switch {
			case m.Value == NoColumn || slices.Contains(without, m.Key):
			case m.Value == nil: // an empty cell would look like a mistake
				line = append(line, "-")
			default:
				line = append(line, printable.Text(fmt.Sprint(m.Value)))
			}
		}
		t.lines = append(t.lines, line[:max(len(line)-l.cut, min(len(line), minColumns))])
	}
	var zero R
	add(columns(zero, l.compact).header())
	for _, row := range rows {
		add(columns(row, l.compact))
	}
	for i, name := range t.lines[0] {
		t.left = append(t.left, i == 0 || slices.Contains(textColumns, name))
	}
	return t
}

func (t *table) widths() []int {
	widths := make([]int, len(t.left))
	for _, line := range t.lines {
		for i, cell := range line {
			widths[i] = max(widths[i], printable.Columns(cell))
		}
	}
	return widths
}

// fit shortens the names, and the cells of the last column if it is one of textColumns. It reports whether the table then
// fits into width.
func (t *table) fit(width int, l layout) bool {
	widths := t.widths()
	last := len(widths) - 1
	numbers := l.gap * last
	for _, column := range widths[1:] {
		numbers += column
	}
	note := 0
	if t.left[last] {
		numbers -= widths[last]
		note = min(widths[last], minNote)
	}
	room := width - numbers - note
	name := min(widths[0], max(room, l.minName))
	shorten := printable.Shorten
	if t.lines[0][0] == "VALUE" {
		shorten = printable.Cut // the beginning of a value matters most
	}
	note = max(note, width-numbers-name)
	whole := make(map[string]string) // whole names by short name, "" if several names have the same short name
	for _, line := range t.lines {
		short := shorten(line[0], name)
		if other, ok := whole[short]; ok && other != line[0] {
			whole[short] = ""
		} else {
			whole[short] = line[0]
		}
	}
	for _, line := range t.lines {
		short := shorten(line[0], name)
		if whole[short] == "" && short != line[0] { // names may differ at their beginning, which CutMiddle keeps
			short = printable.CutMiddle(line[0], name)
		}
		line[0] = short
		if t.left[last] {
			line[last] = printable.Cut(line[last], note)
		}
	}
	return name <= room
}

// text returns the table as text with aligned cells.
func (t *table) text(gap int) []byte {
	var text bytes.Buffer
	widths := t.widths()
	for _, line := range t.lines {
		start := text.Len()
		for i, cell := range line {
			fill := strings.Repeat(" ", widths[i]-printable.Columns(cell))
			if i > 0 {
				text.WriteString("  "[:gap])
			}
			if t.left[i] {
				cell += fill
			} else {
				cell = fill + cell
			}
			text.WriteString(cell)
		}
		text.Truncate(start + len(bytes.TrimRight(text.Bytes()[start:], " ")))
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// histogramUnits are the units of latencies, the finest first, with the labels of bcc.
var histogramUnits = [...]struct {
	label string
	ns    int64
}{{"nsecs", 1}, {"usecs", 1e3}, {"msecs", 1e6}, {"secs", 1e9}}

// amountUnits are the labels of the units of amounts, by the size of a unit. The unit 1 has no label.
var amountUnits = map[int64]string{1e3: "/1k", 1e6: "/1M", 1e9: "/1G"}

// Widths of a line of a histogram in columns.
const (
	lineWidth   = 39 // a line without the bar
	countWidth  = 8  // the least width of the count
	barWidth    = 40
	minBarWidth = 8
	maxEdge     = 1 << 33 // the largest power of two that fits into the ten columns of an edge
)

// Histograms writes a histogram for each function that completed a call: of Options.Amount, or of latencies if Amount is
// "". The format is that of bcc's funclatency -F (print_log2_hist in src/python/bcc/table.py) without leading empty
// ranges. The bounds of ranges are powers of two of a unit. The unit of latencies is the largest that is not longer than
// the fastest call, or a larger unit if the slowest call would need more than ten digits.
func Histograms(w io.Writer, rows []stats.Func, o Options) error {
	var text bytes.Buffer
	for _, row := range rows {
		switch {
		case !o.Hist:
		case o.Amount == "" && timed(row):
			writeHistogram(&text, row, row.ShownLatency(), o)
		case o.Amount != "" && row.Amounts != nil && row.Amounts.Count() > 0:
			writeHistogram(&text, row, &row.Amounts.Histogram, o)
		}
	}
	return write(w, "histogram", text.Bytes())
}

func writeHistogram(text *bytes.Buffer, row stats.Func, h *stats.Histogram, o Options) {
	fmt.Fprintf(text, "\nFunction = %s", printable.Text(row.Name))
	if o.By {
		fmt.Fprintf(text, ", %s", o.valueCell(row, true))
	}
	if row.Lost > 0 && o.Amount == "" {
		fmt.Fprintf(text, " (%d of %d calls, the others' latencies were lost)", row.Latency.Count(), row.Calls)
	}
	text.WriteByte('\n')

	unit := histogramUnits[0]
	for _, coarser := range histogramUnits[1:] {
		if o.Amount == "" && h.Quantile(0) >= coarser.ns || h.Quantile(1)/unit.ns >= maxEdge {
			unit = coarser
		}
	}
	if o.Amount != "" {
		unit.label = printable.Cut(printable.Text(o.Amount), 16) + amountUnits[unit.ns]
	}
	buckets := h.Buckets(unit.ns)
	var most uint64
	for _, b := range buckets {
		most = max(most, b.Count)
	}
	counts := max(len(strconv.FormatUint(most, 10)), countWidth)
	bar := barWidth
	if o.Width > 0 {
		bar = max(min(bar, o.Width-lineWidth), minBarWidth)
	}
	bar -= counts - countWidth

	fmt.Fprintf(text, "     %-19s : %-*s  distribution\n", unit.label, counts, "count")
	for _, b := range buckets {
		stars := strings.Repeat("*", int(float64(bar)*float64(b.Count)/float64(most)))
		fmt.Fprintf(text, "%10d -> %-10d : %-*d |%-*s|\n", b.From/unit.ns, (b.To-1)/unit.ns, counts, b.Count, bar, stars)
	}
}

// sparks are bars with heights of one to eight eighths of a line.
var sparks = []rune("▁▂▃▄▅▆▇█")

// spark returns a bar for each of the values, which are not negative. The largest value has the highest bar, and 0 is a
// blank.
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
