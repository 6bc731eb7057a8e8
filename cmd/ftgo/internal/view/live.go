package view

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
)

// live is the table of -i on a terminal: drawn over the one before, and led by keys.
type live struct {
	out     io.Writer
	screen  *terminal.Screen
	options render.Options
	keys    *terminal.Keys // nil without
	order   int            // in liveOrders
	paused  bool
	rows    []stats.Row
	top     int
}

// liveOrders are what rows may be sorted by.
var liveOrders = []struct {
	name    string
	latency bool // only where there are latencies
	compare func(a, b stats.Row) int
}{
	{"calls", false, func(a, b stats.Row) int { return cmp.Compare(b.Calls, a.Calls) }},
	{"p99", true, func(a, b stats.Row) int { return cmp.Compare(quantile(b, 0.99), quantile(a, 0.99)) }},
	{"total time", true, func(a, b stats.Row) int { return cmp.Compare(total(b), total(a)) }},
	{"name", false, func(a, b stats.Row) int { return strings.Compare(a.Name, b.Name) }},
}

func quantile(r stats.Row, q float64) int64 {
	if r.Latency == nil || r.Latency.Count() == 0 {
		return -1
	}
	return r.Latency.Quantile(q)
}

func total(r stats.Row) int64 {
	if r.Latency == nil {
		return 0
	}
	return r.Latency.Sum()
}

// trendLength is how many intervals the last column shows.
const trendLength = 12

// newLive draws on a terminal. Keys are read unless they are meant for PROGRAM.
func newLive(out io.Writer, o *Options, options render.Options) *live {
	l := &live{out: out, screen: newScreen(out), options: options, top: o.Tables.Top}
	if !o.Tables.PerPID { // trends are of functions
		l.options.Trends = make(map[string][]float64)
	}
	if o.Keys {
		l.keys = terminal.ReadKeys(os.Stdin)
	}
	return l
}

// newScreen is for a table that is drawn over the one before.
func newScreen(out io.Writer) *terminal.Screen {
	screen := terminal.NewScreen(out)
	screen.Plain = os.Getenv("NO_COLOR") != ""
	return screen
}

// close gives the keys back.
func (l *live) close() {
	if l != nil && l.keys != nil {
		l.keys.Restore()
	}
}

// show draws the rows of an interval, unless the user wants to read the last ones.
func (l *live) show(rows []stats.Row) error {
	for _, row := range rows {
		if l.options.Trends == nil {
			break
		}
		trend := append(l.options.Trends[row.Name], row.Rate)
		l.options.Trends[row.Name] = trend[max(0, len(trend)-trendLength):]
	}
	if l.paused {
		return nil
	}
	l.rows = slices.Clone(rows)
	return l.draw()
}

func (l *live) draw() error {
	slices.SortStableFunc(l.rows, func(a, b stats.Row) int {
		return cmp.Or(liveOrders[l.order].compare(a, b), strings.Compare(a.Name, b.Name))
	})
	shown := l.rows
	if l.top > 0 {
		shown = shown[:min(l.top, len(shown))]
	}
	width, height := terminal.Size(l.out)
	l.options.Width = width
	var b bytes.Buffer
	if err := render.Functions(&b, render.Table, shown, l.options); err != nil {
		return err
	}
	return l.screen.Draw(b.String(), l.status(), width, height)
}

// status tells what keys do.
func (l *live) status() string {
	if l.keys == nil {
		return ""
	}
	pause := "p pauses"
	if l.paused {
		pause = "paused, p goes on"
	}
	return "by " + liveOrders[l.order].name + "; s sorts, " + pause + ", q quits"
}

// obey does what the keys that were typed say.
func (l *live) obey() error {
	if l.keys == nil {
		return nil
	}
	for {
		select {
		case key := <-l.keys.Typed:
			switch key {
			case 'q':
				return run.ErrEnough
			case 's':
				l.order = (l.order + 1) % len(liveOrders)
				for liveOrders[l.order].latency && !l.options.Latency {
					l.order = (l.order + 1) % len(liveOrders)
				}
			case 'p':
				l.paused = !l.paused
			default:
				continue
			}
			if err := l.draw(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}
