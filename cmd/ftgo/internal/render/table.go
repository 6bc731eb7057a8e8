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

// layouts are the layouts of a table, from wide to narrow: the number of blanks between columns, the smallest width in
// columns of the terminal to which names in the first column are shortened, and the number of elements of expendable to
// leave out. WriteTable uses the first that fits.
var layouts = [...]struct{ gap, minName, without int }{{2, 24, 0}, {1, 24, 0}, {1, 24, 1}, {1, 24, 2}, {1, 24, 3}, {1, 16, 4}, {1, 12, 5}}

// expendable are the columns that narrow tables leave out, the first element first. An element may name several columns.
var expendable = []string{"POSITION", "ABI", "P90 OFFSET", "MAX SIZE", "SHARE"}

// minColumns is the number of columns of the narrowest table.
const minColumns = 2

// minNote is the smallest width, in columns of the terminal, to which the table's last column is shortened, if it is one
// of textColumns.
const minNote = 16

// textColumns are aligned left, like the first column. All other columns contain numbers and are aligned right.
var textColumns = []string{"VALUE", "POSITION", "ABI", "ENTRY", "TYPE", "NOTE", "WAITS FOR", "CHANGED"}

// column contains the printable cells of a column, the header first.
type column []string

func (c column) width() (width int) {
	for _, cell := range c {
		width = max(width, printable.Columns(cell))
	}
	return width
}

// WriteTable writes a table that fits into width columns. A width of 0 means no limit. If even the narrowest layout is too
// wide, WriteTable leaves out columns on the right. It never cuts numbers or wraps cells. convert converts a row to cells,
// and is called with a zero row for the header.
func WriteTable[R any](w io.Writer, width int, rows []R, convert func(R) Row) error {
	var all []column
	add := func(o Row) {
		i := 0
		for _, m := range o {
			cell := "-" // an empty cell would look like a mistake
			switch {
			case m.Value == NoColumn:
				continue
			case m.Value != nil:
				cell = printable.Text(fmt.Sprint(m.Value))
			}
			if i == len(all) {
				all = append(all, nil)
			}
			all[i] = append(all[i], cell)
			i++
		}
	}
	var zero R
	add(convert(zero).header())
	for _, row := range rows {
		add(convert(row))
	}
	for i := 0; ; i++ {
		l := layouts[min(i, len(layouts)-1)]
		without := strings.Fields(strings.Join(expendable[:l.without], " "))
		t := slices.DeleteFunc(slices.Clone(all), func(c column) bool { return slices.Contains(without, c[0]) })
		cut := max(i+1-len(layouts), 0)
		t = t[:max(len(t)-cut, min(len(t), minColumns))]
		if width <= 0 || fit(t, width, l.gap, l.minName) || cut > 0 && len(t) == minColumns {
			return write(w, tableText(t, l.gap))
		}
	}
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

// fit shortens the names in the first column, and the cells of the last column if it is one of textColumns. It reports
// whether the table then fits into width.
func fit(t []column, width, gap, minName int) bool {
	last := len(t) - 1
	numbers := gap * last
	for _, c := range t[1:] {
		numbers += c.width()
	}
	note, noted := 0, slices.Contains(textColumns, t[last][0])
	if noted {
		note = min(t[last].width(), minNote)
		numbers -= t[last].width()
	}
	room := width - numbers - note
	name := min(t[0].width(), max(room, minName))
	t[0] = shortened(t[0], name)
	if noted {
		t[last] = slices.Clone(t[last])
		for i, cell := range t[last] {
			t[last][i] = printable.Cut(cell, max(note, width-numbers-name))
		}
	}
	return name <= room
}

// shortened returns names with a limited width. It keeps different names different, if their ends differ.
func shortened(names column, width int) column {
	shorten := printable.Shorten
	if names[0] == "VALUE" {
		shorten = printable.Cut // the beginning of a value matters most
	}
	whole := make(map[string]string) // whole names by short name, "" if several names have the same short name
	for _, name := range names {
		short := shorten(name, width)
		if other, ok := whole[short]; ok && other != name {
			name = ""
		}
		whole[short] = name
	}
	names = slices.Clone(names)
	for i, name := range names {
		if names[i] = shorten(name, width); whole[names[i]] == "" && names[i] != name { // CutMiddle keeps the beginning, too
			names[i] = printable.CutMiddle(name, width)
		}
	}
	return names
}

func tableText(t []column, gap int) []byte {
	var text bytes.Buffer
	var widths []int
	for _, c := range t {
		widths = append(widths, c.width())
	}
	for line := range t[0] {
		start := text.Len()
		for i, c := range t {
			fill := strings.Repeat(" ", widths[i]-printable.Columns(c[line]))
			if i > 0 {
				text.WriteString("  "[:gap])
			}
			if i == 0 || slices.Contains(textColumns, c[0]) {
				text.WriteString(c[line] + fill)
			} else {
				text.WriteString(fill + c[line])
			}
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

// Histograms writes a histogram for each function that completed a call: of RowOptions.Amount, or of latencies if Amount is
// "". The format is that of bcc's funclatency -F (print_log2_hist in src/python/bcc/table.py) without leading empty
// ranges. The bounds of ranges are powers of two of a unit. The unit of latencies is the largest that is not longer than
// the fastest call, or a larger unit if the slowest call would need more than ten digits.
func Histograms(w io.Writer, rows []stats.Func, o RowOptions) error {
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
	return write(w, text.Bytes())
}

func writeHistogram(text *bytes.Buffer, row stats.Func, h *stats.Histogram, o RowOptions) {
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
