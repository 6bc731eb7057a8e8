// Package top is the screen of ftgo top: its content, the effects of keys, and the text of each line. Only screen.go
// uses tcell.
package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
)

// Styles of lines.
const (
	Plain = iota
	Bold
	Dim
	Chosen // the row that keys act on
)

// Line is a line of the screen.
type Line struct {
	Text  string
	Style int
}

// Row is a function.
type Row struct {
	ID    int    // unique on a page
	Name  string // the name to show
	Full  string // the whole name, which filters match, too
	Cells []render.Cell
}

// Page is a table that fills the screen.
type Page struct {
	Head    []string // lines above the table
	Columns []string // the titles, the most important first; narrow screens leave out the last
	Rows    []Row
}

// One is the screen of one function.
type One struct {
	Name  string
	Lines []Line // the lines below the name
}

// Action is an action that the caller of Press must perform.
type Action uint8

const (
	Nothing Action = iota
	Open           // open the row that Chosen returns
	Close          // close the open function
	Quit
)

// Model is the state of the screen.
type Model struct {
	page        Page
	list        scroller
	sort        int  // the index of the column to sort by, or len(page.Columns) for names
	help        bool // show the help page
	one         *One // the open function, nil for the table
	message     string
	messageLeft int      // the number of refreshes before message disappears
	messages    []string // the last messages
}

// New returns a model of a table. sort is the index of the column to sort by.
func New(sort int) *Model { return &Model{sort: sort} }

// Show replaces the page.
func (m *Model) Show(p Page) {
	m.expireMessage()
	row, chosen := m.Chosen()
	m.page = p
	if chosen && m.list.at > 0 { // at the first row, the cursor stays first
		if at := slices.IndexFunc(m.shown(), func(r Row) bool { return r.ID == row.ID }); at >= 0 {
			m.list.at = at
		}
	}
}

// Say shows a message until the next key or the fourth refresh, and keeps it for the help page.
func (m *Model) Say(text string) {
	m.message, m.messageLeft = text, 4
	m.messages = append(m.messages, text)
	m.messages = m.messages[max(len(m.messages)-maxMessages, 0):]
}

const maxMessages = 8

// OpenOne shows the screen of a function.
func (m *Model) OpenOne(o *One) { m.one = o }

// ShowOne updates the content of a function's screen, except its name.
func (m *Model) ShowOne(o *One, now One) {
	m.expireMessage()
	now.Name = o.Name
	*o = now
}

// expireMessage removes a message that was shown for long enough.
func (m *Model) expireMessage() {
	if m.messageLeft--; m.messageLeft <= 0 {
		m.message = ""
	}
}

// shown returns the rows that pass the filters, sorted.
func (m *Model) shown() []Row {
	filter := strings.ToLower(m.list.filter)
	rows := slices.DeleteFunc(slices.Clone(m.page.Rows), func(r Row) bool {
		return !strings.Contains(strings.ToLower(r.Name+" "+r.Full), filter)
	})
	slices.SortStableFunc(rows, func(a, b Row) int {
		names := cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		if m.sort >= len(m.page.Columns) {
			return names
		}
		return cmp.Or(cmp.Compare(b.Cells[m.sort].Key, a.Cells[m.sort].Key), cmp.Compare(b.Cells[0].Key, a.Cells[0].Key), names)
	})
	return rows
}

// Chosen returns the row that keys act on.
func (m *Model) Chosen() (r Row, ok bool) {
	rows := m.shown()
	if m.list.at >= len(rows) {
		return r, false
	}
	return rows[m.list.at], true
}

// Press handles a key.
func (m *Model) Press(key rune) Action {
	m.message = ""
	switch {
	case key == keyInterrupt:
		return Quit
	case m.help:
		m.help = false
	case m.one != nil && (key == keyEscape || key == keyBackspace || key == keyErase):
		m.one = nil
		return Close
	case m.one == nil && m.list.typing && (key == keyUp || key == keyDown):
		m.list.typing = false
		m.list.press(key)
	case m.one == nil && m.list.press(key):
	case key == 'q':
		return Quit
	case key == '?' || key == 'h':
		m.help = true
	case m.one == nil:
		return m.press(key)
	}
	return Nothing
}

// press handles a key of the table.
func (m *Model) press(key rune) Action {
	all := len(m.page.Columns) + 1
	switch key {
	case 's', 'S':
		step := 1
		if key == 'S' {
			step = all - 1
		}
		m.sort = (m.sort + step) % all
		m.list.first()
	case keyEnter:
		if _, ok := m.Chosen(); ok {
			return Open
		}
	}
	return Nothing
}

// Draw returns the screen: height lines of up to width columns.
func (m *Model) Draw(width, height int) []Line {
	var lines []Line
	status := m.status()
	switch {
	case m.help:
		lines, status = m.helpLines(width), "any key goes back"
	case m.one != nil:
		lines = append(lines, Line{printable.Shorten(printable.Text(m.one.Name), width), Bold})
		for _, l := range m.one.Lines {
			lines = append(lines, Line{printable.Text(l.Text), l.Style})
		}
		status = "Esc goes back, ? helps, q quits"
	default:
		lines = m.table(width, height-1)
	}
	for len(lines) < height-1 {
		lines = append(lines, Line{})
	}
	if m.message != "" && !m.help { // the help page has the messages, too
		status = printable.Text(m.message)
	}
	lines = append(lines[:max(height-1, 0)], Line{status, Dim})
	for i := range lines {
		if lines[i].Text = printable.Cut(lines[i].Text, width); width < 1 {
			lines[i].Text = ""
		}
	}
	return lines
}
