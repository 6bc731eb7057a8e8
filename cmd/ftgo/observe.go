package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// view is what a command makes of a session: a table, or lines.
type view interface {
	// values tells what to fetch of calls; nil is nothing.
	values(*target.Target, tracefs.Features) (planValues, error)
	// begin is called when all is ready to start. Data goes to out.
	begin(ctx context.Context, t *tracing, fsys *tracefs.FS, out io.Writer) error
	// final writes what is to be written at the end.
	final(t *tracing, funcs []stats.Function, summary stats.Summary) error
}

// planValues is [uprobe.Options].Values.
type planValues func(*offsets.Func, *offsets.Sites) (uprobe.Values, error)

// observe is probe, count and trace: everything from the arguments to the last line.
func observe(ctx context.Context, e *env, o *options, mode uprobe.Mode, v view) (err error) {
	if err := errors.Join(o.checkSched(), checkProcesses(o)); err != nil {
		return err
	}
	if o.auto.wait {
		if !o.query().Await(ctx, e.Say) {
			return nil // told to end before it had begun
		}
	}
	t := &tracing{env: e, opt: o, view: v}
	if len(o.program) > 0 {
		if t.program, err = o.findProgram(e); err != nil {
			return err
		}
	}
	if t.sel, err = o.resolve(e); err != nil {
		return err
	}
	defer t.sel.Binary.Close()
	t.skipped = t.sel.Skipped
	t.features = tracefs.Features{Append: true, PushEmulated: true, Arrays: true, Memory: true, Instances: true, ExactHits: true}
	var fsys *tracefs.FS
	if !o.dryRun {
		if fsys, err = openTracefs(e, o); err != nil {
			return err
		}
		t.features = e.adjust(fsys.Features())
		if err := t.kernelAllows(mode, tracefs.KernelOlder(4, 0)); err != nil {
			return err
		}
		if mode == uprobe.Count && !t.features.ExactHits {
			// What is recorded is counted right, and what is lost is told.
			mode, o.reader = uprobe.CountRecorded, tracefs.Raw
		}
		if t.kernel, err = findKernelEvents(fsys, o); err != nil {
			return err
		}
		if err := t.sel.Hold(o.force); err != nil {
			return err
		}
	}
	values, err := v.values(t.sel, t.features)
	if err != nil {
		return err
	}
	if t.plan, err = planFor(e, t.sel, uprobe.Options{
		Mode: mode, Features: t.features, Values: values, Threads: len(o.with) > 0, Sched: o.sched, Stack: o.stack,
		CountFirst: o.countFirst(t.sel, mode, t.features), Recorded: o.restricted() || o.perPID,
	}); err != nil {
		return err
	}
	if err := t.opt.checkProbes(e, t.plan.Probes(), pace(t.features, fsys)); err != nil {
		return err
	}
	t.tally = newTally(t.plan, o.errors)
	if o.perPID {
		t.tally.per = newPerProcess(t.tally.funcs)
	}
	t.bias = uprobe.NewBiases(t.plan, false)
	sayStack(e, o, t.plan)
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
		fmt.Fprint(e.Stderr, t.definitions("ftgo"))
	}
	t.tally.costs = newMeasuring(mode, o.stack)
	if err := v.begin(ctx, t, fsys, out); err != nil {
		return err
	}
	summary, err := t.run(ctx, fsys)
	if err != nil {
		return err
	}
	return o.verdict(summary.Lost, t.sel, t.written, t.program)
}

// run follows the session and reports; whatever happens, the probes are removed.
func (t *tracing) run(ctx context.Context, fsys *tracefs.FS) (summary stats.Summary, err error) {
	if t.cleanup != nil {
		defer t.cleanup()
	}
	defer t.tally.costs.wait()
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.follow(ctx, fsys); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return summary, cli.BeforeItBegan(ctx)
		}
		return summary, err
	}
	funcs, summary, err := t.final()
	if err != nil {
		return summary, err
	}
	t.sayUntimed()
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it.
	closed := t.close()
	return summary, errors.Join(t.view.final(t, funcs, summary), closed)
}
