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
	terminal.List
	width, height  int  // of the terminal, 0 before anything was drawn
	paused, asking bool // asking shows what keys there are
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

func (l *live) draw() error {
	s := &l.shown
	s.width, s.height = l.size()
	if s.asking {
		return l.screen.Draw(fmt.Sprintf(keysText, strings.Join(l.orders, ", ")), "any key goes back", s.width, s.height)
	}
	sortRows(l.rows, l.orders[0])
	rows := slices.DeleteFunc(slices.Clone(l.rows), func(r stats.Row) bool { return !strings.Contains(r.Name+" "+r.Value, s.Filter) })
	rows = topRows(rows, l.top)
	page := s.height - besides
	if s.height == 0 {
		page = len(rows) // the terminal does not tell its size
	}
	s.Fit(len(rows), page)
	l.options.Width = s.width
	var b bytes.Buffer
	if err := render.Functions(&b, render.Table, rows, l.options); err != nil {
		return err
	}
	lines := slices.Delete(slices.Collect(strings.Lines(b.String())), 1, 1+s.From)
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
	case s.Typing:
		return "/" + printable.Text(s.Filter) + "_"
	}
	text := "by " + l.orders[0]
	if s.Filter != "" {
		text += ", with " + printable.Text(s.Filter)
	}
	if s.All > s.Page {
		text += fmt.Sprintf(", %d to %d of %d", s.From+1, s.From+s.Page, s.All)
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
func (l *live) press(key rune) bool {
	s := &l.shown
	switch {
	case s.asking:
		s.asking = false
	case s.Press(key):
	case key == 'q':
		return false
	case key == 's':
		l.orders = append(l.orders[1:], l.orders[0])
		s.From = 0
	case key == 'p':
		s.paused = !s.paused
	case key == '?':
		s.asking = true
	}
	return true
}
