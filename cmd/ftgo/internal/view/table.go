package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs"
)

// Table writes tables: of all that has happened, and of intervals.
type Table struct {
	run.Ignore
	*run.Scene
	opt    *Options
	mode   uprobe.Mode
	format render.Format
	live   *live // nil but for -i on a terminal
	began  bool  // a header has been written
}

// NewTable returns the view of calls that are seen as mode says.
func NewTable(o *Options, mode uprobe.Mode) *Table {
	return &Table{opt: o, mode: mode, format: o.Format}
}

func (r *Table) Needs() run.Needs {
	return run.Needs{Limit: r.opt.Calls, Stacks: r.opt.Stack > 0, Intervals: r.opt.Every > 0, Errors: r.opt.Tables.Errors, PerPID: r.opt.Tables.PerPID}
}

// Values fetches the type of the last result, for --errors: 0 is no error.
func (r *Table) Values(s *target.Target, features tracefs.Features) (run.Values, error) {
	if !r.opt.Tables.Errors {
		return nil, nil
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		sig, err := s.Binary.Signature(f)
		if err != nil {
			return out, nil
		}
		last, ok := lastError(sig)
		if !ok || last.Err != nil {
			return out, nil
		}
		last.Type, _ = gotype.Basic("uintptr")
		out.Return, err = capture.New([]offsets.Variable{last}, nil, capture.Options{Memory: features.Memory, Machine: s.Binary.Processor().Machine()})
		return out, err
	}, nil
}

func (r *Table) Begin(s *run.Scene) error {
	r.Scene = s
	if err := r.opt.checkTerminal(s.Out); err != nil {
		return err
	}
	if r.format == render.Table && r.opt.Every > 0 && terminal.Is(s.Out) {
		r.live = newLive(s.Out, r.opt, r.options())
	}
	return nil
}

// Flush obeys the keys.
func (r *Table) Flush() error {
	if r.live == nil {
		return nil
	}
	return r.live.obey()
}

// Interval writes what has happened since the last one.
func (r *Table) Interval(t *trace.Table) error {
	rows := r.asAsked(t.Since)
	if r.live != nil {
		return r.live.show(r.arrange(rows, 0))
	}
	rows = r.arrange(rows, r.opt.Tables.Top)
	if r.format == render.Table {
		if _, err := fmt.Fprintf(r.Out, "%s\n", t.At.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return r.write(rows)
}

// asAsked are rows with what probes cost left in latencies, if that was asked for.
func (r *Table) asAsked(rows []stats.Row) []stats.Row {
	for i := range rows {
		if r.opt.Tables.RawLatency {
			rows[i].ShowRaw()
		}
	}
	return rows
}

// arrange sorts rows by calls, leaves out functions that only a wildcard named and
// nobody called, and keeps the top ones.
func (r *Table) arrange(rows []stats.Row, top int) []stats.Row {
	kept := rows[:0]
	for _, row := range rows {
		fn := r.Plan.Funcs[row.Func]
		if row.Calls > 0 || row.Completed > 0 || fn.Point || r.Target.Roles[fn.Func].Named {
			kept = append(kept, row)
		}
	}
	slices.SortStableFunc(kept, func(a, b stats.Row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name), a.PID-b.PID)
	})
	if top > 0 && len(kept) > top {
		kept = kept[:top]
	}
	return kept
}

// withoutWrappers are the rows that --fail-if looks at: a wrapper that somebody's name selects
// beside the function that was meant has calls, or none, for reasons of the compiler's.
func (r *Table) withoutWrappers(rows []stats.Row) (kept []stats.Row) {
	for _, row := range rows {
		if fn := r.Plan.Funcs[row.Func]; fn.Point || !r.Target.Roles[fn.Func].Wrapper {
			kept = append(kept, row)
		}
	}
	return kept
}

// noteInlined marks functions that the compiler has also put into some of their
// callers, where their calls are not seen. It takes a pass over the debug information,
// when nobody waits for probes any more.
func (r *Table) noteInlined(rows []stats.Row) {
	if r.Target.Binary == nil {
		return
	}
	for i := range rows {
		if f := r.Plan.Funcs[rows[i].Func]; f.Point || !r.Target.Roles[f.Func].Named || rows[i].Note != "" {
			continue
		}
		rows[i].Note = r.Target.AlsoInlined(rows[i].Name)
	}
}

// options are those of all tables.
func (r *Table) options() render.Options {
	return render.Options{
		Latency: r.mode == uprobe.Latency, Bucketed: r.opt.Tables.InKernel, Errors: r.opt.Tables.Errors, Sched: r.opt.Sched, Events: r.Events, CountFirst: r.Plan.CountsFirst(), Processes: r.opt.Tables.PerPID,
	}
}

func (r *Table) write(rows []stats.Row) error {
	o := r.options()
	o.Width, _ = terminal.Size(r.Out)
	o.NoHeader = !bool(r.opt.Header) || r.began && r.format != render.Table
	err := render.Functions(r.Out, r.format, rows, o)
	r.began = true
	return err
}

// End writes the totals.
func (r *Table) End(t *trace.Table) error {
	defer r.live.close()
	if t == nil {
		return nil
	}
	if r.opt.Every > 0 && r.live == nil {
		if err := r.Interval(t); err != nil {
			return err
		}
	}
	rows := r.asAsked(t.Whole)
	if r.format == render.Table {
		r.noteInlined(rows)
	}
	failed := r.opt.Tables.FailIf.check(r.withoutWrappers(rows))
	all := slices.Clone(rows)
	rows = r.arrange(rows, r.opt.Tables.Top)
	switch {
	case r.format == render.Table && r.opt.Every > 0:
		if _, err := io.WriteString(r.Out, "total\n"); err != nil {
			return err
		}
	case r.format != render.Table && r.format != render.JSON && r.opt.Every > 0:
		return cmp.Or(footer(r.Env, all, t.Summary), failed) // rows of totals among those of intervals would be counted twice
	}
	if r.format == render.Folded || r.format == render.Pprof {
		return cmp.Or(r.writeStacks(t), footer(r.Env, all, t.Summary), failed)
	}
	if err := r.write(rows); err != nil {
		return err
	}
	if err := r.writeStacks(t); err != nil {
		return err
	}
	if r.opt.Tables.Hist && r.format == render.Table {
		if err := render.Histograms(r.Out, rows, r.options()); err != nil {
			return err
		}
	}
	if r.format == render.JSON {
		err := render.SummaryJSON(r.Out, t.Summary)
		return cmp.Or(err, failed)
	}
	return cmp.Or(footer(r.Env, all, t.Summary), failed)
}
