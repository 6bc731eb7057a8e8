package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

const aboutProbe = `usage: ftgo probe [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo probe [flags] -p PID FUNC...

Show how often functions are called and how long their calls take. BINARY is a
Go program, running or not; ftgo probes every process of it, or only PID. With
-- PROGRAM, ftgo places its probes, runs PROGRAM, and stops when PROGRAM ends.
The standard output of PROGRAM then goes to standard error, unless -w is given.
`

const aboutCount = `usage: ftgo count [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo count [flags] -p PID FUNC...

Count the calls of functions. The kernel counts, so that nothing is recorded and
nothing can be lost. But its counters know no processes: with -p, --fork, --comm
or --per-pid, with -n, and before Linux 6.12, ftgo records every hit instead,
and reports how many were lost.
`

func probeCommand(e *env) *cli.Command {
	o := newOptions(e, render.Folded, render.Pprof)
	return &cli.Command{
		Name: "probe", Summary: "count calls, and measure their rates and latencies", Changes: true, About: aboutProbe,
		Groups: append(o.sessionGroups(&o.Target), &o.extras, &o.tables, o.callers.define("group calls by stack")),
		Words:  o.words("probe"),
		Run:    func(ctx context.Context) error { return probe(ctx, e, o) },
	}
}

func probe(ctx context.Context, e *env, o *options) error {
	if o.stack == 0 && (o.Format == render.Folded || o.Format == render.Pprof) {
		o.stack = uprobe.MaxStack
	}
	if o.inKernel {
		return inKernel(ctx, e, o)
	}
	if err := o.failing.checkKnown(true, o.errors, "--errors"); err != nil {
		return err
	}
	return observe(ctx, e, o, uprobe.Latency, newReport(o, uprobe.Latency))
}

func countCommand(e *env) *cli.Command {
	o := newOptions(e)
	return &cli.Command{
		Name: "count", Summary: "only count calls, the cheapest way", Changes: true, About: aboutCount,
		Groups: append(o.sessionGroups(&o.Target), countTables{&o.tables}),
		Words:  o.words("count"),
		Run:    func(ctx context.Context) error { return count(ctx, e, o) },
	}
}

func count(ctx context.Context, e *env, o *options) error {
	if err := o.failing.checkKnown(false, false, ""); err != nil {
		return err
	}
	mode := uprobe.Count
	if o.restricted() || o.perPID || o.calls > 0 {
		mode = uprobe.CountRecorded
	}
	return observe(ctx, e, o, mode, newReport(o, mode))
}

// report writes tables.
type report struct {
	run.Ignore
	*run.Scene
	opt    *options
	mode   uprobe.Mode
	format render.Format
	live   *live // nil but for -i on a terminal
	began  bool  // a header has been written
}

func newReport(o *options, mode uprobe.Mode) *report {
	return &report{opt: o, mode: mode, format: o.Format}
}

func (r *report) Needs() run.Needs {
	return run.Needs{Limit: r.opt.calls, Stacks: r.opt.stack > 0, Intervals: r.opt.interval > 0, Errors: r.opt.errors, PerPID: r.opt.perPID}
}

// Values fetches the type of the last result, for --errors: 0 is no error.
func (r *report) Values(s *target.Target, features tracefs.Features) (run.Values, error) {
	if !r.opt.errors {
		return nil, nil
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		sig, err := s.Binary.Signature(f)
		if err != nil || len(sig.Results) == 0 {
			return out, nil
		}
		last := sig.Results[len(sig.Results)-1]
		if !isErrorType(last.Type) || last.Err != nil {
			return out, nil
		}
		last.Type, _ = gotype.Basic("uintptr")
		out.Return, err = capture.New([]offsets.Variable{last}, nil, capture.Options{Memory: features.Memory, Machine: s.Binary.Processor().Machine()})
		return out, err
	}, nil
}

func (r *report) Begin(s *run.Scene) error {
	r.Scene = s
	if err := r.opt.checkTerminal(s.Out); err != nil {
		return err
	}
	if r.format == render.Table && r.opt.interval > 0 && terminal.Is(s.Out) {
		r.live = newLive(s.Out, r.opt, r.options())
	}
	return nil
}

// Flush obeys the keys.
func (r *report) Flush() error {
	if r.live == nil {
		return nil
	}
	return r.live.obey()
}

// Interval writes what has happened since the last one.
func (r *report) Interval(t *trace.Table) error {
	rows := r.asAsked(t.Since)
	if r.live != nil {
		return r.live.show(r.arrange(rows, 0))
	}
	rows = r.arrange(rows, r.opt.top)
	if r.format == render.Table {
		if _, err := fmt.Fprintf(r.Out, "%s\n", t.At.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return r.write(rows)
}

// asAsked are rows with what probes cost left in latencies, if that was asked for.
func (r *report) asAsked(rows []stats.Row) []stats.Row {
	for i := range rows {
		if r.opt.rawLatency {
			rows[i].ShowRaw()
		}
	}
	return rows
}

// arrange sorts rows by calls, leaves out functions that only a wildcard named and
// nobody called, and keeps the top ones.
func (r *report) arrange(rows []stats.Row, top int) []stats.Row {
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
func (r *report) withoutWrappers(rows []stats.Row) (kept []stats.Row) {
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
func (r *report) noteInlined(rows []stats.Row) {
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
func (r *report) options() render.Options {
	return render.Options{
		Latency: r.mode == uprobe.Latency, Bucketed: r.opt.inKernel, Errors: r.opt.errors, Sched: r.opt.sched, Events: r.Events, CountFirst: r.Plan.CountsFirst(), Processes: r.opt.perPID,
	}
}

func (r *report) write(rows []stats.Row) error {
	o := r.options()
	o.Width, _ = terminal.Size(r.Out)
	o.NoHeader = !bool(r.opt.Header) || r.began && r.format != render.Table
	err := render.Functions(r.Out, r.format, rows, o)
	r.began = true
	return err
}

// End writes the totals.
func (r *report) End(t *trace.Table) error {
	defer r.live.close()
	if t == nil {
		return nil
	}
	if r.opt.interval > 0 && r.live == nil {
		if err := r.Interval(t); err != nil {
			return err
		}
	}
	rows := r.asAsked(t.Whole)
	if r.format == render.Table {
		r.noteInlined(rows)
	}
	failed := r.opt.failing.check(r.withoutWrappers(rows))
	all := slices.Clone(rows)
	rows = r.arrange(rows, r.opt.top)
	switch {
	case r.format == render.Table && r.opt.interval > 0:
		if _, err := io.WriteString(r.Out, "total\n"); err != nil {
			return err
		}
	case r.format != render.Table && r.format != render.JSON && r.opt.interval > 0:
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
	if r.opt.hist && r.format == render.Table {
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
