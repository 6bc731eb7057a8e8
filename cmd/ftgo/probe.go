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
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
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

func probe(ctx context.Context, e *env, args []string) error {
	o, err := parseFlags(e, "probe", aboutProbe, selectFlags|runFlags|histFlags, args)
	if err != nil {
		return err
	}
	return probeCalls(ctx, e, o)
}

// probeCalls is probe, once its arguments are read.
func probeCalls(ctx context.Context, e *env, o *options) error {
	if (o.stack > 0 || len(o.with) > 0) && o.maxRate.perSecond > 0 {
		return cli.Usage("probe: --stack and --with take all calls: not with --max-rate")
	}
	if o.inKernel {
		return inKernel(ctx, e, o)
	}
	if err := o.auto.failing.checkKnown(true, o.errors, "--errors"); err != nil {
		return err
	}
	return observe(ctx, e, o, uprobe.Latency, newReport(e, o, uprobe.Latency))
}

func count(ctx context.Context, e *env, args []string) error {
	o, err := parseFlags(e, "count", aboutCount, selectFlags|runFlags, args)
	if err != nil {
		return err
	}
	if err := o.auto.failing.checkKnown(false, false, ""); err != nil {
		return err
	}
	mode := uprobe.Count
	if o.restricted() || o.perPID || o.calls > 0 {
		mode = uprobe.CountRecorded
	}
	return observe(ctx, e, o, mode, newReport(e, o, mode))
}

// report writes tables.
type report struct {
	out    io.Writer
	env    *env
	opt    *options
	mode   uprobe.Mode
	format render.Format
	live   *live // nil but for -i on a terminal
	last   []stats.Function
	lastAt time.Time
	began  bool     // a header has been written
	events []string // the kernel events of --with
}

func newReport(e *env, o *options, mode uprobe.Mode) *report {
	return &report{env: e, opt: o, mode: mode, format: o.format}
}

// values fetches the type of the last result, for --errors: 0 is no error.
func (r *report) values(s *target.Target, features tracefs.Features) (planValues, error) {
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

func (r *report) begin(ctx context.Context, t *tracing, fsys *tracefs.FS, out io.Writer) error {
	r.out = out
	if err := r.opt.checkTerminal(out); err != nil {
		return err
	}
	if r.opt.stack > 0 {
		t.tally.stacks = newStacks(t.sel.Binary)
	}
	if t.kernel != nil {
		r.events = t.kernel.names
	}
	if r.format == render.Table && r.opt.interval > 0 && terminal.Is(out) {
		r.live = newLive(out, r.opt, r.options(t))
		t.onRead, t.cleanup = r.live.obey, r.live.close
	}
	t.onTick = r.interval
	t.calls = r.opt.calls
	return nil
}

// row is that of a function over so many seconds.
func (r *report) row(f stats.Function, seconds float64) stats.Row {
	row := stats.NewRow(f, seconds)
	if r.opt.rawLatency {
		row.ShowRaw()
	}
	return row
}

// interval writes what has happened since the last one.
func (r *report) interval(t *tracing, at tracefs.Mark) error {
	funcs, _, err := t.totals(at, false)
	if err != nil {
		return err
	}
	for i := range funcs {
		// What is under way now is not lost, only not yet read.
		funcs[i].Lost, funcs[i].Open = 0, 0
	}
	return r.since(t, funcs, at.At)
}

// since writes the interval that ends now.
func (r *report) since(t *tracing, funcs []stats.Function, now time.Time) error {
	if r.lastAt.IsZero() {
		r.lastAt = t.from.At
	}
	seconds := now.Sub(r.lastAt).Seconds()
	rows := make([]stats.Row, 0, len(funcs))
	for i, f := range funcs {
		var before stats.Function
		if i < len(r.last) {
			before = r.last[i]
		}
		rows = append(rows, r.row(f.Since(before), seconds))
	}
	r.last = r.last[:0]
	for _, f := range funcs {
		r.last = append(r.last, f.Snapshot())
	}
	r.lastAt = now
	if r.live != nil {
		return r.live.show(r.arrange(t, rows, 0))
	}
	rows = r.arrange(t, rows, r.opt.top)
	if r.format == render.Table {
		if _, err := fmt.Fprintf(r.out, "%s\n", now.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return r.write(t, rows)
}

// arrange sorts rows by calls, leaves out functions that only a wildcard named and
// nobody called, and keeps the top ones.
func (r *report) arrange(t *tracing, rows []stats.Row, top int) []stats.Row {
	kept := rows[:0]
	for i, row := range rows {
		fn := t.plan.Funcs[t.tally.per.funcOf(i)]
		if row.Calls > 0 || row.Completed > 0 || fn.Point || t.sel.Roles[fn.Func].Named {
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
func (r *report) withoutWrappers(t *tracing, rows []stats.Row) (kept []stats.Row) {
	for i, row := range rows {
		if fn := t.plan.Funcs[t.tally.per.funcOf(i)]; fn.Point || !t.sel.Roles[fn.Func].Wrapper {
			kept = append(kept, row)
		}
	}
	return kept
}

// noteInlined marks functions that the compiler has also put into some of their
// callers, where their calls are not seen. It takes a pass over the debug information,
// when nobody waits for probes any more.
func (r *report) noteInlined(t *tracing, rows []stats.Row) {
	if t.sel.Binary == nil {
		return
	}
	for i := range rows {
		if f := t.plan.Funcs[t.tally.per.funcOf(i)]; f.Point || !t.sel.Roles[f.Func].Named || rows[i].Note != "" {
			continue
		}
		rows[i].Note = t.sel.AlsoInlined(rows[i].Name)
	}
}

// options are those of all tables.
func (r *report) options(t *tracing) render.Options {
	return render.Options{
		Latency: r.mode == uprobe.Latency, Errors: r.opt.errors, Sched: r.opt.sched, Events: r.events, CountFirst: t.plan.CountsFirst(), Processes: r.opt.perPID,
	}
}

func (r *report) write(t *tracing, rows []stats.Row) error {
	o := r.options(t)
	o.Width, _ = terminal.Size(r.out)
	o.NoHeader = !bool(r.opt.auto.header) || r.began && r.format != render.Table
	err := render.Functions(r.out, r.format, rows, o)
	r.began = true
	return err
}

// final writes the totals.
func (r *report) final(t *tracing, funcs []stats.Function, summary stats.Summary) error {
	summary.AsSeen = summary.LatencyMeasured && t.tally.costs == nil // a recording's
	rows := make([]stats.Row, len(funcs))
	for i, f := range funcs {
		rows[i] = r.row(f, summary.Seconds)
	}
	if r.opt.interval > 0 && r.live == nil {
		if err := r.since(t, funcs, t.until.At); err != nil {
			return err
		}
	}
	if r.format == render.Table {
		r.noteInlined(t, rows)
	}
	failed := r.opt.auto.failing.check(r.withoutWrappers(t, rows))
	all := slices.Clone(rows)
	rows = r.arrange(t, rows, r.opt.top)
	switch {
	case r.format == render.Table && r.opt.interval > 0:
		if _, err := io.WriteString(r.out, "total\n"); err != nil {
			return err
		}
	case r.format != render.Table && r.format != render.JSON && r.opt.interval > 0:
		return cmp.Or(r.env.footer(all, summary), failed) // rows of totals among those of intervals would be counted twice
	}
	if r.format == render.Folded || r.format == render.Pprof {
		return cmp.Or(r.writeStacks(t), r.env.footer(all, summary), failed)
	}
	if err := r.write(t, rows); err != nil {
		return err
	}
	if err := r.writeStacks(t); err != nil {
		return err
	}
	if r.opt.hist && r.format == render.Table {
		if err := render.Histograms(r.out, rows, r.options(t)); err != nil {
			return err
		}
	}
	if r.format == render.JSON {
		err := render.SummaryJSON(r.out, summary)
		return cmp.Or(err, failed)
	}
	return cmp.Or(r.env.footer(all, summary), failed)
}
