package view

import (
	"cmp"
	"io"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Sums keeps the rows of a run, for others to write.
type Sums struct {
	*Table
	Rows    []stats.Func
	Summary stats.Summary
}

// NewSums returns the view of calls that are seen as mode says.
func NewSums(o *Options, mode uprobe.Mode) *Sums { return &Sums{Table: NewTable(o, mode)} }

func (s *Sums) End(t *trace.Table) error {
	if t != nil {
		s.Rows, s.Summary = s.arrange(t.Whole, 0), t.Summary
	}
	return nil
}

// Added writes what runs add up to as a table of one run would be.
func (o *Options) Added(out io.Writer, sum *compare.Run) error {
	rows, t := sum.Funcs, &o.Tables
	sortRows(rows, t.order())
	failed := t.FailIf.check(rows)
	shown := topRows(slices.Clone(rows), t.Top)
	width, _ := terminal.Size(out)
	options := render.Options{
		Format: o.Format, Width: width, FullNames: o.Full, Hosts: t.PerHost, Latency: sum.LatencyMeasured, Errors: sum.Errors(), Sched: sum.Sched(),
		Hist: t.Hist, Budgeted: sum.Budget > 0, Events: sum.Events(),
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
