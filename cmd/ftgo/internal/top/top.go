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

// Row is a function, or a process.
type Row struct {
	ID   int    // unique on a page
	Name string // the name to show
	Full string // the whole name, which filters match, too
	// Recent contains a cell per column for the last interval, and Whole for the whole run.
	Recent, Whole []render.Cell
}

// Page is a table that fills the screen.
type Page struct {
	Head    []string // lines above the table
	Names   string   // the title of the column of names
	Columns []string // the other titles, the most important first; narrow screens leave out the last
	Rows    []Row
	Keys    string // the hint in the last line about Enter, like "Enter opens"
}

// Action is an action that the caller of Press must perform.
type Action uint8

const (
	Nothing Action = iota
	Open           // open the row that Chosen returns
	Close          // close the open function
	Waits          // switch the column of waits on or off
	Quit
)

// Model is the state of the screen.
type Model struct {
	page        Page
	next        *Page // non-nil during a pause: the page to show when it ends
	list        scroller
	sort        int       // the index of the column to sort by, or len(page.Columns) for names
	recent      bool      // show the cells of the last interval, not of the whole run
	help        *scroller // the scroller of the help page, nil if the help page is closed
	one         *One      // the open function, nil for the table
	pausedOne   *One      // the paused content of the open function, nil without a pause
	message     string
	messageLeft int      // the number of refreshes before message disappears
	messages    []string // the last messages
}

// New returns a model of a table. sort is the index of the column to sort by.
func New(sort int) *Model {
	return &Model{sort: sort, list: scroller{cursor: true}}
}

// Show replaces the page. During a pause, it replaces the page that is shown when the pause ends.
func (m *Model) Show(p Page) {
	m.expireMessage()
	if m.Paused() {
		m.next = &p
		return
	}
	row, chosen := m.Chosen()
	m.page = p
	if chosen && m.list.at > 0 { // at the first row, the cursor stays first
		if at := slices.IndexFunc(m.shown(), func(r Row) bool { return r.ID == row.ID }); at >= 0 {
			m.list.at = at
		}
	}
}

// ShowProgress shows a line of progress until the next key or the fourth refresh.
func (m *Model) ShowProgress(text string) { m.message, m.messageLeft = text, 4 }

// Say shows a message like ShowProgress, and keeps it for the help page.
func (m *Model) Say(text string) {
	m.ShowProgress(text)
	m.messages = append(m.messages, text)
	m.messages = m.messages[max(len(m.messages)-maxMessages, 0):]
}

const maxMessages = 8

// Paused reports whether the table is paused.
func (m *Model) Paused() bool { return m.next != nil }

// OpenOne shows the screen of a function.
func (m *Model) OpenOne(o *One) { m.one, m.pausedOne = o, nil }

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
		return cmp.Or(cmp.Compare(m.cells(b)[m.sort].Key, m.cells(a)[m.sort].Key), cmp.Compare(m.cells(b)[0].Key, m.cells(a)[0].Key), names)
	})
	return rows
}

// cells returns the cells of the last interval or of the whole run, as chosen.
func (m *Model) cells(r Row) []render.Cell {
	if m.recent {
		return r.Recent
	}
	return r.Whole
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
	case m.help != nil:
		m.pressHelp(key)
	case m.one != nil:
		return m.pressOne(key)
	case m.list.typing && (key == keyUp || key == keyDown):
		m.list.typing = false
		m.list.press(key)
	case m.list.press(key):
	default:
		return m.press(key)
	}
	return Nothing
}

func (m *Model) press(key rune) Action {
	all := len(m.page.Columns) + 1
	switch key {
	case 'q':
		return Quit
	case '?', 'h':
		m.help = &scroller{}
	case 's':
		m.sortBy((m.sort + 1) % all)
	case 'S':
		m.sortBy((m.sort + all - 1) % all)
	case 'd':
		m.recent = !m.recent
	case 'p':
		m.pause()
	case 'w':
		return Waits
	case keyEnter:
		if _, ok := m.Chosen(); ok {
			return Open
		}
	}
	return Nothing
}

// sortBy sorts by a column, and goes to the first row.
func (m *Model) sortBy(column int) {
	m.sort = column
	m.list.from, m.list.at = 0, 0
}

// pause starts a pause, or ends it and shows the newest page.
func (m *Model) pause() {
	if next := m.next; next != nil {
		m.next = nil
		m.Show(*next)
		return
	}
	paused := m.page
	m.next = &paused
}

// pressOne handles a key while a function is open.
func (m *Model) pressOne(key rune) Action {
	switch key {
	case 'q':
		return Quit
	case '?', 'h':
		m.help = &scroller{}
	case 'p':
		if m.pausedOne == nil {
			m.pausedOne = new(*m.one)
		} else {
			m.pausedOne = nil
		}
	case keyEscape, keyBackspace, keyErase:
		m.one, m.pausedOne = nil, nil
		return Close
	}
	return Nothing
}

// Draw returns the screen: height lines of up to width columns.
func (m *Model) Draw(width, height int) []Line {
	var lines []Line
	status := m.status()
	switch {
	case m.help != nil:
		lines, status = m.keys(width, height-1)
	case m.pausedOne != nil:
		lines, status = m.pausedOne.draw(width, height-1), "paused, p goes on; Esc goes back, ? helps, q quits"
	case m.one != nil:
		lines, status = m.one.draw(width, height-1), "Esc goes back, p pauses, ? helps, q quits"
	default:
		lines = m.table(width, height-1)
	}
	for len(lines) < height-1 {
		lines = append(lines, Line{})
	}
	if m.message != "" && m.help == nil { // the help page has the messages, too
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
