package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// live is the table of -i on a terminal: drawn over the one before, and led by keys.
type live struct {
	size    func() (width, height int)
	screen  *terminal.Screen
	options render.Options
	keys    *terminal.Keys // nil without
	orders  []string       // what the key s goes through; the first is what rows are sorted by
	rows    []stats.Row
	top     int
	shown   shown
}

// shown is what keys have made of what the terminal shows.
type shown struct {
	width, height  int    // of the terminal, 0 before anything was drawn
	from, all      int    // the first row that is shown, and how many there are
	filter         string // what names have that are shown
	typing         bool   // of the filter
	paused, asking bool   // asking shows what keys there are
}

// trendLength is how many intervals the last column shows.
const trendLength = 12

// newLive draws on a terminal. Keys are read unless they are meant for PROGRAM.
func newLive(out io.Writer, o *Options, options render.Options) *live {
	l := &live{size: func() (int, int) { return terminal.Size(out) }, screen: terminal.NewScreen(out), options: options, top: o.Tables.Top, orders: []string{o.Tables.order()}}
	for _, order := range []string{"calls", "p99", "total", "name"} {
		if hasLatency := order == "p99" || order == "total"; order != l.orders[0] && (options.Latency || !hasLatency) {
			l.orders = append(l.orders, order)
		}
	}
	l.screen.Plain = os.Getenv("NO_COLOR") != ""
	if !o.Tables.PerPID && !options.By { // trends are of functions
		l.options.Trends = make(map[string][]float64)
	}
	if o.Keys {
		l.keys = terminal.ReadKeys(os.Stdin)
	}
	return l
}

// close gives the keys back.
func (l *live) close() {
	if l != nil && l.keys != nil {
		l.keys.Restore()
	}
}

// show draws the rows of an interval, unless the user wants to read the last ones.
func (l *live) show(rows []stats.Row) error {
	if trends := l.options.Trends; trends != nil {
		for _, row := range rows {
			trend := append(trends[row.Name], row.Rate)
			trends[row.Name] = trend[max(0, len(trend)-trendLength):]
		}
	}
	if l.shown.paused {
		return nil
	}
	l.rows = slices.Clone(rows)
	return l.draw()
}

// besides are the lines of a screen that are no rows: the header, the status, and the cursor's.
const besides = 3

// page is how many rows the terminal has room for: all, if it does not tell its size.
func (s *shown) page() int {
	if s.height == 0 {
		return max(s.all, 1)
	}
	return max(s.height-besides, 1)
}

func (l *live) draw() error {
	s := &l.shown
	s.width, s.height = l.size()
	if s.asking {
		return l.screen.Draw(fmt.Sprintf(keysText, strings.Join(l.orders, ", ")), "any key goes back", s.width, s.height)
	}
	sortRows(l.rows, l.orders[0])
	rows := slices.DeleteFunc(slices.Clone(l.rows), func(r stats.Row) bool { return !strings.Contains(r.Name+" "+r.Value, s.filter) })
	rows = topRows(rows, l.top)
	s.all = len(rows)
	s.from = max(min(s.from, s.all-s.page()), 0)
	l.options.Width = s.width
	var b bytes.Buffer
	if err := render.Functions(&b, render.Table, rows, l.options); err != nil {
		return err
	}
	lines := slices.Delete(slices.Collect(strings.Lines(b.String())), 1, 1+s.from)
	return l.screen.Draw(strings.Join(lines, ""), l.status(), s.width, s.height)
}

const keysText = `KEYS
s              sort by the next of %s
/              show functions whose names have what you type; Enter ends it
Esc            show all functions again
Down, j        scroll by a line; Up, k back
PgDn, Space    scroll by a page; PgUp, b back
End, G         scroll to the end; Home, g to the beginning
p              pause, or go on
q              quit, and show totals
`

// status tells what is shown, and what keys do.
func (l *live) status() string {
	s := &l.shown
	switch {
	case l.keys == nil:
		return ""
	case s.typing:
		return "/" + printable.Text(s.filter) + "_"
	}
	text := "by " + l.orders[0]
	if s.filter != "" {
		text += ", with " + printable.Text(s.filter)
	}
	if s.all > s.page() {
		text += fmt.Sprintf(", %d to %d of %d", s.from+1, s.from+s.page(), s.all)
	}
	pause := "p pauses"
	if s.paused {
		pause = "paused, p goes on"
	}
	return text + "; s sorts, / filters, " + pause + ", ? helps, q quits"
}

// obey does what the keys that were typed say, and fits the table to the terminal.
func (l *live) obey() error {
	for l.keys != nil && len(l.keys.Typed) > 0 {
		if !l.press(<-l.keys.Typed) {
			return run.ErrEnough
		}
		if err := l.draw(); err != nil {
			return err
		}
	}
	if width, height := l.size(); l.shown.width == 0 || width == l.shown.width && height == l.shown.height {
		return nil
	}
	return l.draw()
}

// press does what a key says, and tells whether to go on.
func (l *live) press(key byte) bool {
	s := &l.shown
	if s.asking {
		s.asking = false
		return true
	}
	if s.typing {
		s.edit(key)
		return true
	}
	switch key {
	case 'q':
		return false
	case 's':
		l.orders = append(l.orders[1:], l.orders[0])
		s.from = 0
	case 'p':
		s.paused = !s.paused
	case '?':
		s.asking = true
	case '/':
		s.typing = true
		fallthrough
	case terminal.Escape:
		s.filter, s.from = "", 0
	case 'j', terminal.Down:
		s.from++
	case 'k', terminal.Up:
		s.from--
	case ' ', terminal.PageDown:
		s.from += s.page()
	case 'b', terminal.PageUp:
		s.from -= s.page()
	case 'g', terminal.Home:
		s.from = 0
	case 'G', terminal.End:
		s.from = s.all
	}
	return true
}

// edit changes the filter by a key.
func (s *shown) edit(key byte) {
	switch {
	case key == '\n', key == '\r':
		s.typing = false
	case key == terminal.Escape:
		s.typing, s.filter = false, ""
	case key == terminal.Erase, key == terminal.Backspace:
		s.filter = s.filter[:max(len(s.filter)-1, 0)]
	case key >= ' ':
		s.filter += string([]byte{key}) // which may be a part of a letter
	}
	s.from = 0
}
