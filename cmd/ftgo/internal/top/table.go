package top

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

const (
	minName   = 14 // the least width of names, in columns of the terminal
	minColumn = 6  // the least width of other columns, so that they rarely move
)

func (m *Model) table(width, height int) (lines []Line) {
	for _, text := range m.page.Head {
		lines = append(lines, Line{Text: printable.Text(text)})
	}
	if len(lines) > 0 {
		lines[0].Style = Bold
	}
	rows := m.shown()
	m.list.fit(len(rows), height-len(lines)-1)
	rows = rows[m.list.from:min(m.list.from+m.list.page, len(rows))]
	widths, name := m.fit(rows, width)
	var head strings.Builder
	head.WriteString(pad("  "+m.title(len(widths), m.page.Names), name))
	for i, w := range widths {
		if w > 0 {
			head.WriteString(right(m.title(i, m.page.Columns[i]), w+1))
		}
	}
	lines = append(lines, Line{head.String(), Bold})
	for i, r := range rows {
		var b strings.Builder
		cursor, style := "  ", Plain
		if m.list.from+i == m.list.at {
			cursor, style = "> ", Chosen
		}
		b.WriteString(pad(cursor+printable.Shorten(printable.Text(r.Name), name-2), name))
		for c, w := range widths {
			if w > 0 {
				b.WriteString(right(r.Cells[c].Text, w+1))
			}
		}
		lines = append(lines, Line{pad(b.String(), width), style})
	}
	return lines
}

// title returns a column's title, with an arrow if rows are sorted by it.
func (m *Model) title(column int, name string) string {
	if column == min(m.sort, len(m.page.Columns)) {
		return "↓" + name
	}
	return name
}

// fit returns the widths of columns, 0 for columns that do not fit, and the width left for names. It always
// keeps the column that rows are sorted by.
func (m *Model) fit(rows []Row, width int) (widths []int, name int) {
	widths = make([]int, len(m.page.Columns))
	name = width
	for i, title := range m.page.Columns {
		widths[i] = max(minColumn, printable.Columns(m.title(i, title)))
		for _, r := range rows {
			widths[i] = max(widths[i], printable.Columns(r.Cells[i].Text))
		}
		name -= widths[i] + 1
	}
	for i := len(widths) - 1; i >= 0 && name < max(minName, width*3/8); i-- {
		if i != m.sort {
			name += widths[i] + 1
			widths[i] = 0
		}
	}
	return widths, max(name, 1)
}

// pad appends blanks to a text up to width, right prepends them.
func pad(text string, width int) string {
	text = printable.Cut(text, width)
	return text + strings.Repeat(" ", max(width-printable.Columns(text), 0))
}

func right(text string, width int) string {
	return strings.Repeat(" ", max(width-printable.Columns(text), 0)) + text
}

// status returns the status line: which rows are shown, and the main keys.
func (m *Model) status() string {
	l := &m.list
	if l.typing {
		return "/" + printable.Text(l.filter) + "_"
	}
	var parts []string
	if l.filter != "" {
		parts = append(parts, "with "+printable.Text(l.filter))
	}
	if l.all > l.page {
		parts = append(parts, fmt.Sprintf("%d to %d of %d", l.from+1, min(l.from+l.page, l.all), l.all))
	}
	keys := "s sorts, / filters, ? helps, q quits"
	if m.page.Keys != "" {
		keys = m.page.Keys + ", " + keys
	}
	return strings.Join(append(parts, keys), "; ")
}

//go:embed keys.txt
var keysText string

// helpLines returns the lines of the help page: keysText, and below it the last messages, the newest first.
func (m *Model) helpLines(width int) (lines []Line) {
	for text := range strings.Lines(keysText) {
		if text = strings.TrimSuffix(text, "\n"); printable.Columns(text) > width {
			lines = append(lines, wrap(text, width)...)
		} else {
			lines = append(lines, Line{Text: text})
		}
	}
	lines[0].Style = Bold
	if m.messages != nil {
		lines = append(lines, Line{"SAID", Bold})
	}
	for _, text := range slices.Backward(m.messages) {
		lines = append(lines, wrap(printable.Text(text), width)...)
	}
	return lines
}

// wrap breaks a text into lines between words. It indents all lines but the first.
func wrap(text string, width int) (lines []Line) {
	for i, line := range printable.Wrap(text, width-2) {
		if i > 0 {
			line = "  " + line
		}
		lines = append(lines, Line{Text: line})
	}
	return lines
}
