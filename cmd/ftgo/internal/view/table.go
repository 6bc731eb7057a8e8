package view

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Table writes a table of the whole run, and one of each interval.
type Table struct {
	Ignore
	*Scene
	opt           *Options
	mode          uprobe.Mode
	screen        *cli.Screen          // nil unless intervals redraw a terminal
	trends        map[string][]float64 // see [render.Options]; nil without a screen
	by            *rowValues           // nil without --by and --sum
	headerWritten bool
	intervals     int // the number of written intervals
}

// NewTable returns a view of tables with the numbers that a mode measures.
func NewTable(o *Options, mode uprobe.Mode) *Table {
	t := &Table{opt: o, mode: mode}
	if o.UsesValues() {
		t.by = &rowValues{opt: o}
		if mode == uprobe.Entries {
			t.by.entryOnly = "count"
		}
	}
	return t
}

func (r *Table) Needs() Needs {
	needs := Needs{
		Stacks: r.opt.Stack > 0,
		Totals: engine.TotalsOptions{Intervals: r.opt.Interval > 0, Errors: r.opt.Errors, Ended: r.opt.Calls > 0},
	}
	needs.Probes.Mode, needs.Values = r.mode, r.values
	needs.Source.Entries, needs.Source.Limit = r.mode == uprobe.Entries, r.opt.Calls
	if r.by != nil {
		t := &needs.Totals
		needs.Stacks = needs.Stacks && !r.opt.By.UsesStack()
		t.ByValue, t.Amounts, t.Observe, t.KeptBy = r.opt.By.Text != "", r.opt.Sum.Text != "", r.by.observe, r.opt.rankBy()
	}
	return needs
}

// values returns the plan of the values to fetch, for --by and --sum, or else for --errors.
func (r *Table) values(s *target.Target, features tracefs.Features) (engine.Values, error) {
	switch {
	case r.by != nil:
		return r.by.plan(s, features)
	case !r.opt.Errors:
		return nil, nil
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		if sig, err := s.Binary.Signature(f); err == nil {
			return failing(s, features, sig)
		}
		return out, nil
	}, nil
}

// failing plans to fetch the first word of the last result, if that is an error. The word is 0 if the error is nil.
func failing(s *target.Target, features tracefs.Features, sig *offsets.Signature) (out uprobe.Values, err error) {
	last, ok := target.LastError(sig)
	if !ok || last.Err != nil {
		return out, nil
	}
	last.Type, _ = gotype.Basic("uintptr")
	opt := capture.Options{Memory: features.Memory, Machine: s.Binary.File().Processor.Machine()}
	out.Fails = true
	out.Return, err = capture.NewBuilder([]offsets.Variable{last}, opt).Capture(nil, nil)
	return out, err
}

func (r *Table) Begin(s *Scene) error {
	r.Scene = s
	if r.by != nil {
		r.by.begin(s)
	}
	if r.opt.Format == render.Pprof && cli.IsTerminal(s.Out) {
		return cli.Usage("-o pprof writes no text: -w FILE")
	}
	if r.opt.Format == render.Table && r.opt.Interval > 0 && cli.IsTerminal(s.Out) {
		r.screen = &cli.Screen{Terminal: s.Out, Plain: os.Getenv("NO_COLOR") != ""}
		if !r.options().By { // a trend has the calls of a function, not of a value
			r.trends = make(map[string][]float64)
		}
	}
	return nil
}

// trendLength is the number of intervals in the column TREND.
const trendLength = 12

// draw replaces the table on the screen by the rows of an interval.
func (r *Table) draw(rows []stats.Func) error {
	o := r.options()
	if o.Trends = r.trends; o.Trends != nil {
		for _, row := range rows {
			trend := append(o.Trends[row.Name], row.Rate())
			o.Trends[row.Name] = trend[max(0, len(trend)-trendLength):]
		}
	}
	_, height := cli.TerminalSize(r.Out)
	var table bytes.Buffer
	if err := render.Functions(&table, topRows(rows, r.opt.Top), o); err != nil {
		return err
	}
	return r.screen.Draw(table.String(), o.Width, height)
}

func (r *Table) Interval(t *engine.Table) error {
	if r.screen != nil {
		return r.draw(r.arrange(t.Since, 0))
	}
	if r.opt.Format == render.Table {
		if _, err := fmt.Fprintf(r.Out, "%s\n", t.At.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	r.intervals++
	interval := &render.Interval{Number: r.intervals, End: t.At}
	err := r.write(r.arrange(t.Since, r.opt.Top), interval)
	if err == nil && r.opt.Summaries && r.opt.Format == render.JSON {
		err = render.SummaryJSON(r.Out, t.Summary, interval)
	}
	return err
}

// Rows returns the sorted rows of a whole run.
func (r *Table) Rows(t *engine.Table) []stats.Func { return r.arrange(t.Whole, 0) }

// arrange returns the first top rows in the order of --sort. It leaves out functions without calls, unless FUNC is their
// name and there are no values of --by.
func (r *Table) arrange(rows []stats.Func, top int) []stats.Func {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row stats.Func) bool {
		return row.Calls == 0 && row.Completed == 0 && row.Number() < 0.5 && (!r.role(row).Named || r.opt.By.Text != "")
	})
	sortRows(rows, r.opt.order())
	return topRows(rows, top)
}

// role returns the role of a row's function. The row of a single instruction counts as named.
func (r *Table) role(row stats.Func) target.Role {
	f := &r.Plan.Funcs[row.Func]
	if f.Point {
		return target.Role{Named: true}
	}
	return r.Target.Roles[f.Func]
}

// isWrapper reports whether a row is of a wrapper, which --fail-if ignores. FUNC selects the wrapper together with the
// function that the user means, and the number of its calls depends on the compiler.
func (r *Table) isWrapper(row stats.Func) bool { return r.role(row).Wrapper }

// noteInlined adds a note to functions that the compiler has also inlined into some callers, because it does not count
// the inlined calls. It reads all of the debug information, so it runs after the probes were removed.
func (r *Table) noteInlined(rows []stats.Func) {
	for i := range rows {
		if r.Target.Binary != nil && r.role(rows[i]).Named && rows[i].Note == "" {
			rows[i].Note = r.Target.AlsoInlined(rows[i].Name)
		}
	}
}

func (r *Table) options() render.Options {
	o := r.opt
	return render.Options{
		By: o.By.Text != "", ByStack: o.By.UsesStack(), Amount: o.Sum.Text, Hist: o.Hist,
		Latency: r.mode == uprobe.Latency, Errors: o.Errors, Sched: o.Sched, Events: r.Events,
		Budgeted: r.Plan.Regroups > 0, FullNames: o.Full, Width: cli.Width(r.Out),
	}
}

func (r *Table) write(rows []stats.Func, interval *render.Interval) error {
	o := r.options()
	o.Format, o.Interval = r.opt.Format, interval
	o.NoHeader = r.headerWritten
	err := render.Functions(r.Out, rows, o)
	r.headerWritten = true
	return err
}

func (r *Table) End(t *engine.Table) error {
	if r.opt.Merges {
		return nil
	}
	if r.opt.Interval > 0 && r.screen == nil {
		if err := r.Interval(t); err != nil {
			return err
		}
	}
	rows := t.Whole
	if r.opt.Format == render.Table {
		r.noteInlined(rows)
	}
	failed := r.opt.FailIf.check(slices.DeleteFunc(slices.Clone(rows), r.isWrapper))
	if err := r.writeTotals(t, r.arrange(rows, r.opt.Top)); err != nil {
		return err
	}
	return cmp.Or(writeSummary(r.Env, r.opt.Format, r.Out, rows, t.Summary), failed)
}

func (r *Table) writeTotals(t *engine.Table, rows []stats.Func) error {
	switch {
	case r.opt.Format == render.Folded || r.opt.Format == render.Pprof:
		return r.writeStacks(t)
	case r.opt.Format == render.Table && r.opt.Interval > 0:
		if _, err := io.WriteString(r.Out, "total\n"); err != nil {
			return err
		}
	case r.opt.Format != render.JSON && r.opt.Interval > 0:
		return nil // a program that sums the rows would count the calls twice
	}
	var whole *render.Interval
	if r.opt.Interval > 0 {
		whole = &render.Interval{}
	}
	if err := r.write(rows, whole); err != nil {
		return err
	}
	if err := r.writeStacks(t); err != nil || r.opt.Format != render.Table {
		return err
	}
	return render.Histograms(r.Out, rows, r.options())
}

// writeStacks writes the callers of functions.
func (r *Table) writeStacks(t *engine.Table) error {
	if r.Stacks == nil {
		return nil
	}
	if n := r.Stacks.Beyond; n > 0 {
		r.Env.Warn(fmt.Sprintf("callers of %d calls are not known: %d stacks are told apart, and others came later", n, stats.MaxStacks))
	}
	amount := r.options().Amount
	b := r.Plan.Binary
	rows := r.Stacks.Rows()
	funcs := make(map[int]*stats.Func)
	for i := range t.Whole {
		funcs[t.Whole[i].Func] = &t.Whole[i]
	}
	for i, row := range rows {
		if f := funcs[row.Func]; f != nil {
			rows[i] = row.Of(f)
		}
	}
	if amount != "" {
		slices.SortStableFunc(rows, func(a, b stats.StackRow) int {
			return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(b.Amount, a.Amount))
		})
	}
	for i := range rows {
		row := &rows[i]
		f := &r.Plan.Funcs[row.Func]
		at := offsets.Frame{Function: f.Name}
		if frames := b.Internals().Frames(f.Addr); len(frames) > 0 {
			outer := frames[len(frames)-1]
			at.File, at.Line = outer.File, outer.Line
		}
		row.Function, row.At = f.Name, stats.Location{Addr: f.Addr, Frames: []offsets.Frame{at}}
		row.Callers = r.Stacks.Locations(row.PCs, f.Name)
	}
	switch r.opt.Format {
	case render.Table:
		width := 0
		if !r.opt.Full {
			width = cli.Width(r.Out)
		}
		return render.StackText(r.Out, rows, amount, width, r.opt.Top)
	case render.JSON:
		return render.StackJSON(r.Out, rows, amount)
	case render.Folded:
		return render.FoldedStacks(r.Out, rows, amount)
	case render.Pprof:
		run := render.Profiled{Amount: amount, Path: b.File().Path(), BuildID: b.File().BuildID(), Began: t.From, Duration: t.At.Sub(t.From)}
		run.Start, run.Limit, run.Offset = b.File().Segment(r.Plan.Events[0].Sites[0].Addr)
		return render.PprofStacks(r.Out, rows, run)
	}
	return nil
}
