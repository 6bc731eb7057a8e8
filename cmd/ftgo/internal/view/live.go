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

// liveOrders are what rows may be sorted by: the largest first, or by name.
var liveOrders = []struct {
	name    string
	latency bool // only where there are latencies
	key     func(stats.Row) int64
}{
	{"calls", false, func(r stats.Row) int64 { return int64(r.Calls) }},
	{"p99", true, func(r stats.Row) int64 {
		if r.Latency == nil || r.Latency.Count() == 0 {
			return -1
		}
		return r.Latency.Quantile(0.99)
	}},
	{"total time", true, func(r stats.Row) int64 {
		if r.Latency == nil {
			return 0
		}
		return r.Latency.Sum()
	}},
	{"name", false, func(stats.Row) int64 { return 0 }},
}

// trendLength is how many intervals the last column shows.
const trendLength = 12

// newLive draws on a terminal. Keys are read unless they are meant for PROGRAM.
func newLive(out io.Writer, o *Options, options render.Options) *live {
	l := &live{out: out, screen: terminal.NewScreen(out), options: options, top: o.Tables.Top}
	l.screen.Plain = os.Getenv("NO_COLOR") != ""
	if !o.Tables.PerPID { // trends are of functions
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
	if l.paused {
		return nil
	}
	l.rows = slices.Clone(rows)
	return l.draw()
}

func (l *live) draw() error {
	key := liveOrders[l.order].key
	slices.SortStableFunc(l.rows, func(a, b stats.Row) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), strings.Compare(a.Name, b.Name))
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
	for l.keys != nil {
		select {
		case key := <-l.keys.Typed:
			switch key {
			case 'q':
				return run.ErrEnough
			case 's':
				l.order = (l.order + 1) % len(liveOrders)
				for liveOrders[l.order].latency && !l.options.Latency {
					l.order++
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
	return nil
}
