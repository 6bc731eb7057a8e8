package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

const aboutProbe = `usage: ftgo probe [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo probe [flags] -p PID FUNC...

Shows how often functions are called and how long the calls take. BINARY is a Go
program, running or not; every process of it is probed, unless -p names one. With
-- PROGRAM that program is run with the probes in place, and ends the run; its
standard output goes to standard error, unless -w FILE takes the data.
`

const aboutCount = `usage: ftgo count [flags] BINARY FUNC... [-- PROGRAM ARGS...]
       ftgo count [flags] -p PID FUNC...

Counts calls of functions. The kernel does the counting: nothing is recorded, and
nothing can be lost.
`

func probe(ctx context.Context, e *env, args []string) error {
	o, err := parseFlags(e, "probe", aboutProbe, selectFlags|runFlags|histFlags, args)
	if err != nil {
		return err
	}
	return observe(ctx, e, o, uprobe.Latency, newReport(e, o, uprobe.Latency))
}

func count(ctx context.Context, e *env, args []string) error {
	o, err := parseFlags(e, "count", aboutCount, selectFlags|runFlags, args)
	if err != nil {
		return err
	}
	mode := uprobe.Count
	if len(o.pids) > 0 {
		mode = uprobe.CountRecorded
	}
	return observe(ctx, e, o, mode, newReport(e, o, mode))
}

// view is what a command makes of a session: a table, or lines.
type view interface {
	// values tells what to fetch of calls; nil is nothing.
	values(*selection, tracefs.Features) (planValues, error)
	// begin is called when all is ready to start. Data goes to out.
	begin(ctx context.Context, t *tracing, fsys *tracefs.FS, out io.Writer) error
	// final writes what is to be written at the end.
	final(t *tracing, funcs []stats.Function, summary stats.Summary) error
}

// planValues is [uprobe.Options].Values.
type planValues func(*offsets.Func, *offsets.Sites) (uprobe.Values, error)

// observe is probe, count and trace: everything from the arguments to the last line.
func observe(ctx context.Context, e *env, o *options, mode uprobe.Mode, v view) (err error) {
	if err := checkProcesses(o); err != nil {
		return err
	}
	t := &tracing{env: e, opt: o, view: v}
	if len(o.program) > 0 {
		stdout := e.stderr
		if o.outFile != "" {
			stdout = e.stdout
		}
		if t.program, err = findProgram(o.program, stdout, e.stderr); err != nil {
			return err
		}
	}
	if t.sel, err = selectFuncs(e, o); err != nil {
		return err
	}
	defer t.sel.binary.Close()
	t.skipped = t.sel.skipped
	t.features = tracefs.Features{Append: true, PushEmulated: true, Arrays: true}
	var fsys *tracefs.FS
	if !o.dryRun {
		if fsys, err = openTracefs(e); err != nil {
			return err
		}
		if tracefs.KernelOlder(4, 0) && !o.force {
			return &statusError{exitKernel, errKernelTooOld}
		}
		t.features = e.adjust(fsys.Features())
	}
	values, err := v.values(t.sel, t.features)
	if err != nil {
		return err
	}
	if t.plan, err = planFor(e, t.sel, mode, t.features, values); err != nil {
		return err
	}
	t.tally = newTally(t.plan, o.errors)
	t.bias = uprobe.NewBiases(t.plan, tracefs.Mappings)
	out, done, err := o.output(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.dryRun {
		_, err = io.WriteString(out, t.definitions("ftgo"))
		return err
	}
	if o.verbose {
		fmt.Fprint(e.stderr, t.definitions("ftgo"))
	}
	if err := v.begin(ctx, t, fsys, out); err != nil {
		return err
	}
	summary, err := t.run(ctx, fsys)
	if t.cleanup != nil {
		t.cleanup()
	}
	if lost := summary.Lost - summary.Disarming; err == nil && o.limited && lost > o.maxLost {
		err = &statusError{exitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, o.maxLost)}
	}
	if err == nil && t.program != nil {
		err = t.program.status()
	}
	return err
}

// run follows the session and reports; whatever happens, the probes are removed.
func (t *tracing) run(ctx context.Context, fsys *tracefs.FS) (summary stats.Summary, err error) {
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.follow(ctx, fsys); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return summary, nil // told to end before it had begun
		}
		return summary, err
	}
	funcs, summary, err := t.totals(t.stopped)
	if err != nil {
		return summary, err
	}
	// The table can wait for the probes to be gone; who reads it may be slow.
	if err := t.close(); err != nil {
		return summary, err
	}
	return summary, t.view.final(t, funcs, summary)
}

// report writes tables.
type report struct {
	out    io.Writer
	env    *env
	opt    *options
	mode   uprobe.Mode
	format render.Format
	costs  *measuring // nil if nobody is told
	screen *render.Screen
	last   []stats.Function
	lastAt time.Time
	began  bool // a header has been written
}

func newReport(e *env, o *options, mode uprobe.Mode) *report {
	return &report{env: e, opt: o, mode: mode, format: o.format}
}

// values fetches the type of the last result, for --errors: 0 is no error.
func (r *report) values(s *selection, _ tracefs.Features) (planValues, error) {
	if !r.opt.errors {
		return nil, nil
	}
	return func(f *offsets.Func, _ *offsets.Sites) (out uprobe.Values, err error) {
		sig, err := s.binary.Signature(f)
		if err != nil || len(sig.Results) == 0 {
			return out, nil
		}
		last := sig.Results[len(sig.Results)-1]
		if !isErrorType(last.Type) || last.Err != nil {
			return out, nil
		}
		last.Type, _ = gotype.Basic("uintptr")
		out.Return, err = capture.New([]offsets.Variable{last}, nil, capture.Options{})
		return out, err
	}, nil
}

func (r *report) begin(ctx context.Context, t *tracing, fsys *tracefs.FS, out io.Writer) error {
	r.out = out
	if r.format == render.Table || r.mode == uprobe.Latency && !r.opt.rawLatency {
		r.costs = measureHits(ctx, fsys, r.mode)
		t.cleanup = r.costs.wait
		if !r.opt.rawLatency {
			t.tally.costs = r.costs
		}
	}
	if r.format == render.Table && r.opt.interval > 0 && isTerminal(out) {
		r.screen = render.NewScreen(out)
	}
	t.onTick = r.interval
	t.calls = r.opt.calls
	return nil
}

// interval writes what has happened since the last one.
func (r *report) interval(t *tracing) error {
	now := time.Now()
	funcs, _, err := t.totals(now)
	if err != nil {
		return err
	}
	if r.lastAt.IsZero() {
		r.lastAt = t.armed
	}
	seconds := now.Sub(r.lastAt).Seconds()
	rows := make([]stats.Row, 0, len(funcs))
	for i, f := range funcs {
		var before stats.Function
		if r.last != nil {
			before = r.last[i]
		}
		since := f.Since(before)
		// What is under way now is not lost, only not yet read.
		since.Lost, since.Open = 0, 0
		rows = append(rows, stats.NewRow(since, seconds))
	}
	r.last = r.last[:0]
	for _, f := range funcs {
		r.last = append(r.last, f.Snapshot())
	}
	r.lastAt = now
	rows = r.arrange(t, rows)
	if r.screen != nil {
		width, height := terminalSize(r.out)
		var b bytes.Buffer
		if err := render.Functions(&b, render.Table, rows, render.Options{Width: width, Latency: r.mode == uprobe.Latency}); err != nil {
			return err
		}
		return r.screen.Draw(b.String(), width, height)
	}
	if r.format == render.Table {
		if _, err := fmt.Fprintf(r.out, "%s\n", now.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return r.write(rows)
}

// arrange sorts rows by calls, leaves out functions that only a wildcard named and
// nobody called, and keeps the top ones.
func (r *report) arrange(t *tracing, rows []stats.Row) []stats.Row {
	kept := rows[:0]
	for i, row := range rows {
		if row.Calls > 0 || row.Completed > 0 || t.plan.Funcs[i].Point || t.sel.named[t.plan.Funcs[i].Func] {
			kept = append(kept, row)
		}
	}
	slices.SortStableFunc(kept, func(a, b stats.Row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name))
	})
	if r.opt.top > 0 && len(kept) > r.opt.top {
		kept = kept[:r.opt.top]
	}
	return kept
}

// noteInlined marks functions that the compiler has also put into some of their
// callers, where their calls are not seen. It takes a pass over the debug information,
// when nobody waits for probes any more.
func (r *report) noteInlined(t *tracing, rows []stats.Row) {
	for i := range rows {
		if f := t.plan.Funcs[i]; f.Point || !t.sel.named[f.Func] || rows[i].Note != "" {
			continue
		}
		if at, err := t.sel.binary.InlinedAt(rows[i].Name); err == nil && len(at) > 0 {
			rows[i].Note = fmt.Sprintf("is also inlined at %s, where its calls are not seen", plural(len(at), "place"))
		}
	}
}

func (r *report) write(rows []stats.Row) error {
	width, _ := terminalSize(r.out)
	err := render.Functions(r.out, r.format, rows, render.Options{
		Width: width, Latency: r.mode == uprobe.Latency, Errors: r.opt.errors, NoHeader: r.began,
	})
	r.began = true
	return err
}

// final writes the totals.
func (r *report) final(t *tracing, funcs []stats.Function, summary stats.Summary) error {
	summary.NetLatency = t.tally.net
	if r.costs != nil {
		summary.HitCost = r.costs.take().emulated.call
	}
	rows := make([]stats.Row, len(funcs))
	for i, f := range funcs {
		rows[i] = stats.NewRow(f, summary.Seconds)
	}
	if r.format == render.Table {
		r.noteInlined(t, rows)
	}
	all := slices.Clone(rows)
	rows = r.arrange(t, rows)
	switch {
	case r.format == render.Table && r.opt.interval > 0:
		if _, err := io.WriteString(r.out, "total\n"); err != nil {
			return err
		}
	case r.format != render.Table && r.format != render.JSON && r.opt.interval > 0:
		return render.Footer(r.env.stderr, all, summary) // rows of totals among those of intervals would be counted twice
	}
	if err := r.write(rows); err != nil {
		return err
	}
	if r.opt.hist && r.format == render.Table {
		if err := render.Histograms(r.out, rows); err != nil {
			return err
		}
	}
	if r.format == render.JSON {
		return render.SummaryJSON(r.out, summary)
	}
	return render.Footer(r.env.stderr, all, summary)
}
