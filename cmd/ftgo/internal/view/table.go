package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Table writes a table of the whole run, and a table of each interval.
type Table struct {
	common
	mode      uprobe.Mode
	intervals int // the number of written intervals
}

// NewTable returns a view of tables with the numbers that a mode measures.
func NewTable(o *Options, mode uprobe.Mode) *Table {
	return &Table{common: common{opt: o, funcs: make(map[*offsets.Func]*funcValues)}, mode: mode}
}

func (v *Table) Needs() Needs {
	needs := Needs{
		Stacks: v.opt.Stack > 0,
		Totals: engine.Totals{Intervals: v.opt.Interval > 0, Ended: v.opt.Calls > 0},
	}
	needs.Probes.Mode, needs.Values = v.mode, v.values
	needs.Source.Entries, needs.Source.Limit = v.mode == uprobe.Entries, v.opt.Calls
	if needs.Source.Key = v.pairKey; v.opt.Where.Source != "" {
		needs.Source.Keep = func(c *pairing.Call) bool {
			vf, call := v.line(c)
			return v.passes(vf.filter, call)
		}
	}
	if v.opt.UsesValues() {
		t := &needs.Totals
		t.ByValue, t.Amounts, t.Observe, t.KeptBy = v.opt.By.Source != "", v.opt.Sum.Source != "", v.observe, v.opt.rankBy()
	}
	return needs
}

// values returns the plan of the values to fetch, for --by and --sum, or else for --errors.
func (v *Table) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	switch {
	case v.opt.UsesValues() || s.Pair != nil:
		return v.exprValues(s, features)
	case !v.opt.Errors:
		return nil, nil
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		if sig, err := s.Binary.Signature(f); err == nil {
			return failing(s, features, sig)
		}
		return out, nil
	}, nil
}

// failing plans to fetch the first word of the last result, if its type is error. The word is 0 if the error is nil.
func failing(s *target.Target, features tracefs.Features, sig *offsets.Signature) (out uprobe.Values, err error) {
	last, ok := target.LastError(sig)
	if !ok || last.Err != nil {
		return out, nil
	}
	last.Type, _ = gotype.Basic("uintptr")
	opt := capture.Options{Features: features, Machine: s.Binary.File().Processor.Machine()}
	out.Fails = true
	out.Return, err = capture.NewBuilder([]offsets.Variable{last}, opt).Capture(nil, nil)
	return out, err
}

func (v *Table) Begin(s *Scene) error {
	v.begin(s)
	return nil
}

// Take does nothing: the totals sum the calls.
func (v *Table) Take(*pairing.Item) error { return nil }

func (v *Table) Interval(t *trace.Reading) error {
	if v.opt.Format == render.Table {
		if _, err := fmt.Fprintf(v.Out, "%s\n", t.At.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	v.intervals++
	o := v.options()
	o.Interval = &render.Interval{Number: v.intervals, End: t.At}
	err := render.Functions(v.Out, v.arrange(t.Since, v.opt.Top), o)
	if err == nil && v.opt.Summaries && v.opt.Format == render.JSON {
		err = render.SummaryJSON(v.Out, t.Summary, o.Interval)
	}
	return err
}

// Rows returns the sorted rows of a whole run.
func (v *Table) Rows(t *trace.Reading) []stats.Func { return v.arrange(t.Whole, 0) }

// arrange returns the first top rows in the order of --sort. It leaves out functions without calls, unless FUNC is their
// name and there are no values of --by.
func (v *Table) arrange(rows []stats.Func, top int) []stats.Func {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row stats.Func) bool {
		return row.Calls == 0 && row.Completed == 0 && row.Number() < 0.5 && (!v.role(row).Named || v.opt.By.Source != "")
	})
	sortRows(rows, v.opt.order())
	return topRows(rows, top)
}

func (v *Table) role(row stats.Func) uprobe.Role { return v.Plan.Funcs[row.Func].Role }

func (v *Table) options() render.RowOptions {
	o := v.opt
	return render.RowOptions{
		Style: o.StyleFor(v.Out), By: o.By.Source != "", Amount: o.Sum.Source, Hist: o.Hist,
		Latency: v.mode == uprobe.Latency, Errors: o.Errors, Sched: o.Sched, Events: v.Events,
		Budgeted: v.Plan.GroupSize > 0,
	}
}

func (v *Table) End(t *trace.Reading) error {
	if v.opt.Merges {
		return nil
	}
	if v.opt.Interval > 0 {
		if err := v.Interval(t); err != nil {
			return err
		}
	}
	v.sayUndecided()
	rows := t.Whole
	if v.opt.Format == render.Table && v.Target.Binary != nil {
		// Probes do not see calls that the compiler has inlined. AlsoInlined reads all of the debug information, so it runs
		// after the probes were removed.
		for i := range rows {
			if v.role(rows[i]).Named && rows[i].Note == "" {
				rows[i].Note = v.Target.AlsoInlined(rows[i].Name)
			}
		}
	}
	// FUNC selects a wrapper together with the function that the user means. The calls of the wrapper depend on the compiler.
	failed := v.opt.failIf(slices.DeleteFunc(slices.Clone(rows), func(row stats.Func) bool { return v.role(row).Wrapper }))
	if err := v.writeTotals(t, v.arrange(rows, v.opt.Top)); err != nil {
		return err
	}
	return cmp.Or(writeSummary(v.Env, v.opt.Format, v.Out, rows, t.Summary), failed)
}

func (v *Table) writeTotals(t *trace.Reading, rows []stats.Func) error {
	switch {
	case v.opt.Format == render.Folded || v.opt.Format == render.Pprof:
		return v.writeStacks(t)
	case v.opt.Format == render.Table && v.opt.Interval > 0:
		if _, err := io.WriteString(v.Out, "total\n"); err != nil {
			return err
		}
	case v.opt.Format != render.JSON && v.opt.Interval > 0:
		return nil // a program that sums the rows would count the calls twice
	}
	o := v.options()
	if v.opt.Interval > 0 {
		o.Interval = &render.Interval{}
	}
	if err := render.Functions(v.Out, rows, o); err != nil {
		return err
	}
	if err := v.writeStacks(t); err != nil || v.opt.Format != render.Table {
		return err
	}
	return render.Histograms(v.Out, rows, o)
}

// writeStacks writes the callers of functions.
func (v *Table) writeStacks(t *trace.Reading) error {
	if v.Stacks == nil {
		return nil
	}
	if n := v.Stacks.Beyond; n > 0 {
		v.Env.Warn(fmt.Sprintf("callers of %d calls are unknown, because there were more than %d different stacks", n, engine.MaxStacks))
	}
	amount := v.opt.Sum.Source
	b := v.Plan.Binary
	rows := v.Stacks.Rows()
	funcs := make(map[int]*stats.Func)
	for i := range t.Whole {
		funcs[t.Whole[i].Func] = &t.Whole[i]
	}
	for i := range rows {
		row := &rows[i]
		if total := funcs[row.Func]; total != nil {
			*row = row.Extrapolate(total)
		}
		f := &v.Plan.Funcs[row.Func]
		at := offsets.Frame{Function: f.Name}
		if frames := b.Internals().Frames(f.Addr); len(frames) > 0 {
			outer := frames[len(frames)-1]
			at.File, at.Line = outer.File, outer.Line
		}
		row.Function, row.At = f.Name, stats.Location{Addr: f.Addr, Frames: []offsets.Frame{at}}
		row.Callers = v.Stacks.Locations(row.PCs, f.Name)
	}
	if amount != "" {
		slices.SortStableFunc(rows, func(a, b stats.StackRow) int {
			return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(b.Amount, a.Amount))
		})
	}
	switch v.opt.Format {
	case render.Table:
		width := 0
		if !v.opt.Full {
			width = cli.Width(v.Out)
		}
		return render.StackText(v.Out, rows, amount, width, v.opt.Top)
	case render.JSON:
		return render.StackJSON(v.Out, rows, amount)
	case render.Folded:
		return render.FoldedStacks(v.Out, rows, amount)
	case render.Pprof:
		run := render.NewProfiled(b, v.Plan.Events[0].Sites[0].Addr, t.Began)
		run.Amount, run.Duration = amount, t.At.Sub(t.Began)
		return render.PprofStacks(v.Out, rows, run)
	}
	return nil
}
