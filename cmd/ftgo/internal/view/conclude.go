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

// number is how many calls rows have together, at least where nothing bounds them, and sampled tells whether that is an estimate.
func number(rows []stats.Func) (calls float64, sampled bool) {
	for _, r := range rows {
		if r.Whole == nil {
			calls += r.Number()
		} else {
			calls, sampled = calls+r.Whole.Least(), true
		}
	}
	return calls, sampled
}

// conclude says how far the numbers can be trusted: with --quiet only if not all the way, unless
// that is part of the data.
func conclude(e *cli.Env, f render.Format, out io.Writer, rows []stats.Func, s stats.Summary) error {
	switch _, sampled := number(rows); {
	case f == render.JSON:
		return render.SummaryJSON(out, s, nil)
	case e.Quiet && s.Lost == 0 && s.Unparsed == 0 && !sampled:
		return nil
	}
	return render.Footer(e.Stderr, rows, s)
}

// Added writes what runs add up to as a table of one run would be.
func (o *Options) Added(out io.Writer, sum *compare.Run) error {
	rows := sum.Funcs
	sortRows(rows, o.order())
	failed := o.FailIf.check(rows)
	shown := topRows(slices.Clone(rows), o.Top)
	options := render.Options{
		Format: o.Format, Width: cli.Width(out), FullNames: o.Full, Hosts: o.PerHost, Latency: sum.LatencyMeasured, Errors: sum.Errors(), Sched: sum.Sched(),
		Hist: o.Hist, Budgeted: sum.Budget > 0, Events: sum.Events(),
	}
	err := render.Functions(out, shown, options)
	if err == nil && o.Format == render.Table {
		err = render.Histograms(out, shown, options)
	}
	if err != nil {
		return err
	}
	return cmp.Or(conclude(o.Env, o.Format, out, rows, sum.Summary), failed)
}
