package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/tracefs"
)

// rows are the functions' numbers since the run began.
func (k *kept) rows(r tracefs.HistogramReading) []stats.Function {
	rows := make([]stats.Function, len(r.Funcs))
	for i, f := range r.Funcs {
		rows[i] = stats.Function{
			Name: k.plan.Funcs[i].Name, Calls: f.Calls, Completed: f.Completed,
			Latency: &stats.Log2{Counts: f.Log2, Number: f.Completed, Total: f.Sum},
		}
	}
	return rows
}

// interval writes what has happened since the last one.
func (k *kept) interval() error {
	r, err := k.session.Read()
	if err != nil {
		return err
	}
	now := time.Now()
	all := k.rows(r)
	if k.last == nil {
		k.last, k.lastAt = make([]stats.Function, len(all)), k.armed
	}
	rows := make([]stats.Row, len(all))
	for i, f := range all {
		rows[i] = stats.NewRow(f.Since(k.last[i]), now.Sub(k.lastAt).Seconds())
	}
	k.last, k.lastAt = all, now
	rows = k.arrange(rows)
	if k.screen != nil {
		width, height := terminal.Size(k.out)
		var b strings.Builder
		if err := render.Functions(&b, render.Table, rows, render.Options{Latency: true, Bucketed: true, Width: width}); err != nil {
			return err
		}
		return k.screen.Draw(b.String(), "", width, height)
	}
	if k.opt.format == render.Table {
		if _, err := fmt.Fprintf(k.out, "%s\n", now.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return k.write(rows)
}

// arrange sorts rows by calls, leaves out functions that only a wildcard named and nobody
// called, and keeps the top ones.
func (k *kept) arrange(rows []stats.Row) []stats.Row {
	var shown []stats.Row
	for i, row := range rows {
		if row.Calls > 0 || row.Completed > 0 || k.sel.Roles[k.plan.Funcs[i].Func].Named {
			shown = append(shown, row)
		}
	}
	slices.SortStableFunc(shown, func(a, b stats.Row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name))
	})
	if k.opt.top > 0 && len(shown) > k.opt.top {
		shown = shown[:k.opt.top]
	}
	return shown
}

func (k *kept) write(rows []stats.Row) error {
	width, _ := terminal.Size(k.out)
	err := render.Functions(k.out, k.opt.format, rows, render.Options{Latency: true, Bucketed: true, Width: width, NoHeader: !bool(k.opt.auto.header) || k.began && k.opt.format != render.Table})
	k.began = true
	return err
}

// final writes the totals.
func (k *kept) final(r tracefs.HistogramReading, seconds float64) error {
	summary := stats.Summary{
		Hits: r.Hits, Delivered: r.Hits - r.Lost, Lost: r.Lost, Probes: k.plan.Probes(), Functions: len(k.plan.Funcs),
		Seconds: seconds, Clock: tracefs.HistogramClock, LatencyMeasured: true, Bucketed: true, Skipped: k.limits(),
		Vanished: k.vanished.processes(),
	}
	all := make([]stats.Row, len(r.Funcs))
	for i, f := range k.rows(r) {
		if f.Unfinished = f.Calls - min(f.Completed, f.Calls); r.Lost > 0 {
			f.Unfinished, f.Lost = 0, f.Unfinished // it is not known whether they have ended
		}
		all[i] = stats.NewRow(f, seconds)
	}
	rows := k.arrange(all)
	table := k.opt.format == render.Table
	switch {
	case table && k.opt.interval > 0:
		if _, err := io.WriteString(k.out, "total\n"); err != nil {
			return err
		}
	case !table && k.opt.format != render.JSON && k.opt.interval > 0:
		return k.env.footer(all, summary) // totals among rows of intervals would be counted twice
	}
	if err := k.write(rows); err != nil {
		return err
	}
	if k.opt.hist && table {
		if err := render.Histograms(k.out, rows, render.Options{Bucketed: true}); err != nil {
			return err
		}
	}
	if k.opt.format == render.JSON {
		return render.SummaryJSON(k.out, summary)
	}
	return k.env.footer(all, summary)
}

// limits are the functions that are not probed, and those of which not all calls are seen.
func (k *kept) limits() []stats.Skipped {
	limits := slices.Clone(k.sel.Skipped)
	for _, s := range k.plan.Skipped {
		limits = append(limits, stats.Skipped{Function: s.Func.Name, Reason: s.Reason.Error()})
	}
	for _, f := range k.plan.Funcs {
		if !f.Returns {
			limits = append(limits, stats.Skipped{Function: f.Name, Reason: "has no return: only its calls are counted"})
		}
		if k.opt.format != render.Table || !k.sel.Roles[f.Func].Named {
			continue
		}
		if reason := k.sel.AlsoInlined(f.Name); reason != "" {
			limits = append(limits, stats.Skipped{Function: f.Name, Reason: reason})
		}
	}
	return limits
}
