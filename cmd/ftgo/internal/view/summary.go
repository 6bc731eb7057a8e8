package view

import (
	"cmp"
	"io"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
)

// writeSummary writes a summary of the run: the last object of JSON, or else a footer for stderr. With --quiet, it writes
// the footer only if numbers are incomplete or estimates.
func writeSummary(e *cli.Env, f render.Format, out io.Writer, rows []stats.Func, s stats.Summary) error {
	switch {
	case f == render.JSON:
		return render.SummaryJSON(out, s, nil)
	case e.Quiet && s.Lost == 0 && s.Unparsed == 0 && render.Sum(rows).Estimate == nil:
		return nil
	}
	return render.Footer(e.Stderr, rows, s)
}

// WriteMerged writes the table of several runs that were merged.
func (o *Options) WriteMerged(out io.Writer, sum *compare.Run) error {
	rows := sum.Funcs
	sortRows(rows, o.order())
	failed := o.failIf(rows)
	shown := topRows(slices.Clone(rows), o.Top)
	options := render.RowOptions{
		Style: o.StyleFor(out), Hosts: o.PerHost, Latency: sum.LatencyMeasured, Errors: sum.Errors(), Sched: sum.Sched(),
		Hist: o.Hist, Budgeted: sum.Budget > 0, Events: sum.Events(),
	}
	err := render.Functions(out, shown, options)
	if err == nil && o.Format == render.Table {
		err = render.Histograms(out, shown, options)
	}
	if err != nil {
		return err
	}
	return cmp.Or(writeSummary(o.Env, o.Format, out, rows, sum.Summary), failed)
}
