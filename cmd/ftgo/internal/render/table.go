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

// fits are the layouts of a table, from wide to narrow. The first that fits is taken.
var fits = [...]fit{
	{gap: 2, name: 24}, {gap: 1, name: 24}, {gap: 1, name: 24, without: 1}, {gap: 1, name: 24, without: 2},
	{gap: 1, name: 16, without: 2}, {gap: 1, name: 16, compact: true, without: 3},
	{gap: 1, name: 12, compact: true, without: 3}, {gap: 1, name: 12, compact: true, without: 4},
}

type fit struct {
	gap     int  // the number of blanks between columns, 1 or 2
	name    int  // the smallest limit of names in the first column
	compact bool // write large numbers of calls as 1.25M
	without int  // the number of elements of expendable to leave out
	cut     int  // the number of last columns to leave out
}

// expendable are the columns that narrow tables leave out, in this order.
var expendable = []string{"TREND ABI", "P90 OFFSET", "MAX SIZE", "SHARE"}

// leastColumns is the number of columns of the narrowest table.
const leastColumns = 2

// minNote is the smallest limit of a last column of text.
const minNote = 16

// textColumns contain text like the first column, and are aligned left; the others contain numbers.
var textColumns = []string{"VALUE", "POSITION", "ABI", "ENTRY", "TYPE", "NOTE", "TREND", "WAITS FOR", "CHANGED"}

// WriteTable writes a table that fits into width columns; 0 means no limit. If even the narrowest layout is too wide, it
// leaves out the last columns. It never cuts numbers, or wraps cells.
func WriteTable[R any](w io.Writer, width int, rows []R, columns func(row R, compact bool) Row) error {
	var t table
	var chosen fit
	for i := 0; ; i++ {
		chosen = fits[min(i, len(fits)-1)]
		chosen.cut = max(i+1-len(fits), 0)
		if t = newTable(rows, chosen, columns); width <= 0 || t.fit(width, chosen) || chosen.cut > 0 && len(t.left) == leastColumns {
			break
		}
	}
	return write(w, "table", t.text(chosen.gap))
}

// ShortNames returns short names by the names of rows, nil if full.
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

// table has the cells of a table, the header first. They are printable.
type table struct {
	lines [][]string
	left  []bool // by column, whether it contains text
}

func newTable[R any](rows []R, f fit, columns func(row R, compact bool) Row) (t table) {
	without := strings.Fields(strings.Join(expendable[:f.without], " "))
	add := func(o Row) {
		line := make([]string, 0, len(o))
		for _, m := range o {
			switch {
			case m.Value == Hidden || slices.Contains(without, m.Key):
			case m.Value == nil: // an empty cell would look like a mistake
				line = append(line, "-")
			default:
				line = append(line, printable.Text(fmt.Sprint(m.Value)))
			}
		}
		t.lines = append(t.lines, line[:max(len(line)-f.cut, min(len(line), leastColumns))])
	}
	var none R
	add(columns(none, f.compact).header())
	for _, row := range rows {
		add(columns(row, f.compact))
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

// fit shortens the names, and the notes in a last column of text, and reports whether the table now fits into width.
func (t *table) fit(width int, f fit) bool {
	widths := t.widths()
	last := len(widths) - 1
	numbers := f.gap * last
	for _, column := range widths[1:] {
		numbers += column
	}
	note := 0
	if t.left[last] {
		numbers -= widths[last]
		note = min(widths[last], minNote)
	}
	room := width - numbers - note
	name := min(widths[0], max(room, f.name))
	shorten := printable.Shorten
	if t.lines[0][0] == "VALUE" {
		shorten = printable.Cut // the beginning of a value matters most
	}
	note = max(note, width-numbers-name)
	of := make(map[string]string) // the name by its shortened form, "" if several have the same
	for _, line := range t.lines {
		short := shorten(line[0], name)
		if other, ok := of[short]; ok && other != line[0] {
			of[short] = ""
		} else {
			of[short] = line[0]
		}
	}
	for _, line := range t.lines {
		short := shorten(line[0], name)
		if of[short] == "" && short != line[0] { // its beginning may be different
			short = printable.CutMiddle(line[0], name)
		}
		line[0] = short
		if t.left[last] {
			line[last] = printable.Cut(line[last], note)
		}
	}
	return name <= room
}

// text aligns the cells.
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

// histogramUnits are sorted from the finest; the labels are those of bcc.
var histogramUnits = [...]struct {
	label string
	ns    int64
}{{"nsecs", 1}, {"usecs", 1e3}, {"msecs", 1e6}, {"secs", 1e9}}

// amountUnits are the labels for other numbers.
var amountUnits = map[int64]string{1e3: "/1k", 1e6: "/1M", 1e9: "/1G"}

// A histogram's line has 39 columns, of which the count takes eight, and the bar.
const (
	lineWidth  = 39
	barWidth   = 40
	leastBar   = 8
	countWidth = 8
	// maxEdge is the largest value that fits into ten columns.
	maxEdge = 1 << 33
)

// Histograms writes the distribution of Options.Amount, or of latencies without one, for each function that completed a
// call, in the power-of-two form of bcc's funclatency -F (print_log2_hist in src/python/bcc/table.py), without leading
// empty ranges. The unit of latencies is the largest one that is not above the fastest call, or a larger one if the
// slowest call would need more than ten digits.
func Histograms(w io.Writer, rows []stats.Func, o Options) error {
	var text bytes.Buffer
	for _, row := range rows {
		switch {
		case !o.Hist:
		case o.Amount == "" && timed(row):
			writeHistogram(&text, row, row.Shown(), o)
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
		bar = max(min(bar, o.Width-lineWidth), leastBar)
	}
	bar -= counts - countWidth

	fmt.Fprintf(text, "     %-19s : %-*s  distribution\n", unit.label, counts, "count")
	for _, b := range buckets {
		stars := strings.Repeat("*", int(float64(bar)*float64(b.Count)/float64(most)))
		fmt.Fprintf(text, "%10d -> %-10d : %-*d |%-*s|\n", b.From/unit.ns, (b.To-1)/unit.ns, counts, b.Count, bar, stars)
	}
}

// sparks are bars of one to eight eighths of a line's height.
var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws numbers that are not negative as a row of bars. The largest is the highest, and 0 is a blank.
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
