package top

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
)

// table returns the lines of the page.
func (m *Model) table(width, height int) (lines []Line) {
	for _, text := range m.page.Head {
		lines = append(lines, Line{Text: printable.Text(text)})
	}
	if len(lines) > 0 {
		lines[0].Style = Bold
	}
	rows := m.shown()
	m.list.fit(len(rows), height-len(lines)-1)
	var text bytes.Buffer
	_ = render.WriteTable(&text, max(width-2, 1), rows[m.list.from:min(m.list.from+m.list.page, len(rows))], m.cells) // a buffer takes everything
	for i, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		switch at := m.list.from + i - 1; {
		case i == 0:
			lines = append(lines, Line{"  " + line, Bold})
		case at == m.list.at:
			lines = append(lines, Line{"> " + line, Chosen})
		default:
			lines = append(lines, Line{"  " + line, Plain})
		}
	}
	return lines
}

// cells returns the cells of a row, or of the zero Row for the titles. They are six columns wide, so that they rarely move.
func (m *Model) cells(r Row) render.Row {
	row := render.Row{{m.title(len(m.page.Columns), "FUNCTION"), r.Name}}
	for i, name := range m.page.Columns {
		text := ""
		if i < len(r.Cells) {
			text = r.Cells[i].Text
		}
		row = append(row, render.Row{{m.title(i, name), fmt.Sprintf("%6s", text)}}...)
	}
	return row
}

// title returns a column's title, with an arrow if rows are sorted by it.
func (m *Model) title(column int, name string) string {
	if column == min(m.sort, len(m.page.Columns)) {
		return "↓" + name
	}
	return name
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
	return strings.Join(append(parts, "Enter opens, s sorts, / filters, ? helps, q quits"), "; ")
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
