package view

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Overview shows a page with all functions on a full screen, and updates it at each interval.
type Overview struct {
	*Table
	show     func(top.Page)
	short    map[string]string // short names of functions
	lastCost *stats.Probing    // the cost of probes at the end of the last interval
}

// NewOverview returns a view that passes its pages to show.
func NewOverview(o *Options, show func(top.Page)) *Overview {
	return &Overview{Table: NewTable(o, uprobe.Latency), show: show}
}

func (v *Overview) Needs() Needs {
	needs := v.Table.Needs()
	needs.Soon = true
	return needs
}

func (v *Overview) Begin(s *Scene) error {
	v.short = shortNames(s.Plan)
	return v.Table.Begin(s)
}

func shortNames(p *uprobe.Plan) map[string]string {
	return render.ShortNames(false, p.Funcs, func(f uprobe.Probe) string { return f.Name })
}

func (v *Overview) End(t *trace.Reading) error { return v.Interval(t) }

// Interval shows the page at the end of an interval.
func (v *Overview) Interval(t *trace.Reading) error {
	p := top.Page{Columns: render.TopColumns(v.opt.Sched)}
	probed, called, timed := 0, 0, 0
	for i, r := range t.Whole {
		if r.Estimate.Bounded() || r.Calls > 0 {
			probed++
		}
		switch {
		case r.Calls > 0 || r.Completed > 0:
			called++
		case !v.Plan.Funcs[r.Func].Role.Named:
			continue
		}
		if r.Latency != nil && r.Latency.Count() > 0 {
			timed++
		}
		p.Rows = append(p.Rows, top.Row{
			ID: r.Func, Name: cmp.Or(v.short[r.Name], r.Name), Full: r.Name, Cells: render.TopCells(r, t.Since[i], v.opt.Sched),
		})
	}
	functions := printable.Plural(t.Functions, "function")
	if probed < t.Functions {
		functions = fmt.Sprintf("%d of %s probed", probed, functions)
	}
	p.Head = []string{
		fmt.Sprintf("%s, %s, %d of them called, %d timed", time.Duration(t.Seconds*float64(time.Second)).Round(time.Second), functions, called, timed),
		render.TopCost(&t.Summary, v.lastCost),
	}
	v.lastCost = t.Probing
	v.show(p)
	return nil
}

// Closeup shows a page with one function on a full screen: its numbers, its callers and its slowest calls.
type Closeup struct {
	*Lines
	show     func(top.One)
	slowest  []*render.Line // the slowest calls, the slowest first
	shown    []*render.Line // the slowest calls of the last page
	lastCost *stats.Probing // the cost of probes at the end of the last interval
	line     bytes.Buffer
	short    string // the short name of the function
}

// Limits of a page.
const (
	maxSlowest = 40
	maxCallers = 8
)

// NewCloseup returns a view that passes its pages to show.
func NewCloseup(o *Options, show func(top.One)) *Closeup {
	v := &Closeup{Lines: NewLines(o), show: show}
	v.keeps = true
	return v
}

func (v *Closeup) Needs() Needs {
	needs := Needs{Stacks: true, Totals: engine.Totals{Intervals: true}}
	needs.Probes.Mode, needs.Values, needs.Soon = uprobe.Latency, v.values, true
	return needs
}

func (v *Closeup) Begin(s *Scene) error {
	v.begin(s)
	short := shortNames(s.Plan)
	v.short = short[s.Plan.Funcs[0].Name]
	v.explainUnknown()
	v.calls = render.NewCallWriter(&v.line, render.LineOptions{Style: render.Style{Width: longestLine}, Short: short})
	return nil
}

// Take adds a call to the slowest calls.
func (v *Closeup) Take(it *pairing.Item) error {
	if it.Kind == pairing.Forgotten {
		v.memory.Forget(it.PID)
	}
	c := it.Call
	if it.Kind != pairing.Ended || c.Outcome != pairing.Returned || c.Func != 0 { // the functions after the first stand for wait reasons
		return nil
	}
	ns := v.Clock.Took(c).Nanoseconds()
	if len(v.slowest) == maxSlowest && ns <= v.slowest[maxSlowest-1].NS {
		return nil
	}
	at, _ := slices.BinarySearchFunc(v.slowest, ns, func(l *render.Line, ns int64) int { return cmp.Compare(ns, l.NS) })
	v.slowest = slices.Insert(v.slowest, at, v.Lines.line(c, true))
	v.slowest = v.slowest[:min(len(v.slowest), maxSlowest)]
	return nil
}

func (v *Closeup) End(t *trace.Reading) error { return v.Interval(t) }

// Interval shows the page at the end of an interval. It marks calls that are new among the slowest.
func (v *Closeup) Interval(t *trace.Reading) error {
	var p top.One
	add := func(texts ...string) {
		for _, text := range texts {
			p.Lines = append(p.Lines, top.Line{Text: text})
		}
	}
	numbers, split := render.TopNumbers(t.Whole[0], t.Since[0])
	if add(numbers, render.TopCost(&t.Summary, v.lastCost)); split != "" {
		add(split)
	}
	v.lastCost = t.Probing
	if callers := v.callers(); len(callers) > 0 {
		p.Lines = append(p.Lines, top.Line{Text: "CALLERS, by time", Style: top.Bold})
		add(callers...)
	}
	if len(v.slowest) > 0 {
		p.Lines = append(p.Lines, top.Line{Text: "SLOWEST CALLS", Style: top.Bold})
	}
	for _, l := range v.slowest {
		mark := "+"
		if slices.Contains(v.shown, l) {
			mark = " "
		}
		v.line.Reset()
		_ = v.calls.Line(l) // a buffer takes everything
		text, _, _ := strings.Cut(v.line.String(), "\n")
		add(mark + strings.Replace(text, "  "+v.short+"(", "  (", 1)) // the head of the page has the name
	}
	v.shown = slices.Clone(v.slowest)
	v.show(p)
	return nil
}

// callers returns a line for each stack of callers, with its share of the time, the largest first.
func (v *Closeup) callers() (list []string) {
	rows := slices.DeleteFunc(v.Stacks.Rows(), func(r stats.StackRow) bool { return r.Func != 0 })
	var all int64
	for _, r := range rows {
		all = stats.AddUp(all, r.Sum)
	}
	slices.SortStableFunc(rows, func(a, b stats.StackRow) int { return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(b.Calls, a.Calls)) })
	for _, r := range rows[:min(len(rows), maxCallers)] {
		names := render.StackNames(v.Stacks.Locations(r.PCs, v.Plan.Funcs[0].Name))
		for i, name := range names {
			names[i] = printable.Short(name)
		}
		list = append(list, fmt.Sprintf("%8s  %s", printable.Percent(uint64(r.Sum), uint64(max(all, 1))), strings.Join(names, " < ")))
	}
	return list
}
