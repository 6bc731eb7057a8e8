package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// fits are the ways to lay out a table, from roomy to tight; the first that keeps
// to the width is taken.
var fits = [...]fit{{gap: 2, name: 24}, {gap: 1, name: 24}, {gap: 1, name: 12}, {gap: 1, name: 12, compact: true}}

type fit struct {
	// gap is the number of blanks between columns, 1 or 2.
	gap int
	// name is how far the names in the first column may be shortened.
	name int
	// compact writes large numbers of calls as 1.25M.
	compact bool
}

// minNote is how far the last column is shortened if it holds text.
const minNote = 16

// textColumns hold text, as the first column does, and are aligned to the left; the others
// hold numbers.
var textColumns = []string{"POSITION", "ABI", "ENTRY", "NOTE", "TREND"}

// writeTable lays out a table within width columns (0 = no limit) and writes it, without its
// header if bare. A width that even the tightest layout exceeds is exceeded: numbers are never
// cut, and cells never wrapped.
func writeTable[R any](w io.Writer, width int, bare bool, rows []R, columns func(row R, compact bool) object) error {
	var t table
	var chosen fit
	for _, chosen = range fits {
		if t = newTable(rows, chosen.compact, columns); width <= 0 || t.fit(width, chosen) {
			break
		}
	}
	return write(w, "table", t.text(chosen.gap, bare))
}

// table is the text of a table, its header first. All cells are safe for a terminal and one line
// each.
type table struct {
	lines [][]string
	left  []bool // the columns of text
}

func newTable[R any](rows []R, compact bool, columns func(row R, compact bool) object) (t table) {
	add := func(o object) {
		line := make([]string, 0, len(o))
		for _, m := range o {
			switch m.value {
			case hidden{}:
			case nil: // an empty cell would look like a mistake
				line = append(line, "-")
			default:
				line = append(line, printable.Text(fmt.Sprint(m.value)))
			}
		}
		t.lines = append(t.lines, line)
	}
	var none R
	add(columns(none, compact).header())
	for _, row := range rows {
		add(columns(row, compact))
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

// fit shortens the names, and the notes in a last column of text, and reports
// whether the table now keeps to width.
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
	note = max(note, width-numbers-name)
	for _, line := range t.lines {
		line[0] = printable.Shorten(line[0], name)
		if t.left[last] {
			line[last] = printable.Cut(line[last], note)
		}
	}
	return name <= room
}

// text aligns the cells. Where the header is left out, columns are as wide as with it.
func (t *table) text(gap int, bare bool) []byte {
	var text bytes.Buffer
	widths := t.widths()
	lines := t.lines
	if bare {
		lines = lines[1:]
	}
	for _, line := range lines {
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
