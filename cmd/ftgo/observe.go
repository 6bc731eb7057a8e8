package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// observe is probe, count and trace: everything from the arguments to the last line.
func observe(ctx context.Context, e *env, o *options, mode uprobe.Mode, v run.View) (err error) {
	if err := checkProcesses(o); err != nil {
		return err
	}
	if o.wait {
		if !o.Await(ctx, e.Say) {
			return nil // told to end before it had begun
		}
	}
	p := &planned{env: e, opt: o, view: v}
	j := o.job(v)
	if j.Program, err = run.FindProgram(&e.Env, o.program, o.File == ""); err != nil {
		return err
	}
	if p.target, err = o.resolve(e); err != nil {
		return err
	}
	defer p.target.Binary.Close()
	p.features = tracefs.Features{Append: true, PushEmulated: true, Arrays: true, Memory: true, Instances: true, ExactHits: true}
	var fsys *tracefs.FS
	var events []string
	if !o.dryRun {
		if fsys, err = openTracefs(e, o); err != nil {
			return err
		}
		p.features = e.adjust(fsys.Features())
		if err := p.kernelAllows(mode, tracefs.KernelOlder(4, 0)); err != nil {
			return err
		}
		if mode == uprobe.Count && !p.features.ExactHits {
			// What is recorded is counted right, and what is lost is told.
			mode, o.reader = uprobe.CountRecorded, tracefs.Raw
		}
		if events, err = o.kernelEvents(fsys); err != nil {
			return err
		}
		if err := p.target.Hold(o.force); err != nil {
			return err
		}
	}
	values, err := v.Values(p.target, p.features)
	if err != nil {
		return err
	}
	if p.plan, err = planFor(e, p.target, uprobe.Options{
		Mode: mode, Features: p.features, Values: values, Threads: len(o.with) > 0, Sched: o.sched, Stack: o.Stack,
		CountFirst: o.countFirst(p.target, mode, p.features), Recorded: o.restricted() || o.PerPID,
	}); err != nil {
		return err
	}
	if slices.ContainsFunc(uprobe.TraceEvents(p.plan.Events), tracefs.Event.LongText) {
		o.reader = tracefs.Raw
	}
	if err := o.checkProbes(e, p.plan.Probes(), pace(p.features, fsys)); err != nil {
		return err
	}
	sayStack(e, o, p.plan)
	out, done, err := o.Open(&e.Env, o.program, o.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	definitions := definitionsOf(uprobe.TraceEvents(p.plan.Events), o.Binary)
	if o.dryRun {
		_, err = io.WriteString(out, definitions)
		return err
	}
	if o.verbose {
		fmt.Fprint(e.Stderr, definitions)
	}
	j.Costs = own.New(fsys, ownFunctions, mode, o.Stack)
	want := v.Needs()
	j.Source = trace.NewLive(fsys, p.plan, trace.Options{
		Filter:   trace.Filter{PIDs: o.PIDs, Fork: o.fork, Comm: o.comm},
		Recorder: trace.Recorder{Features: p.features, BufferKB: e.bufferKB, Reader: o.reader, Shared: o.force},
		Talk:     &e.Env, With: events, Sched: o.sched, Skipped: p.target.Skipped,
		Entries: want.Entries, Steady: want.Steady, Once: want.Once, Alone: !o.mixed(), Inside: p.inside(want),
		Limit: want.Limit, Wait: o.wait, MaxRate: o.RateLimit(), Costs: j.Costs,
	})
	j.Scene = run.Scene{Env: &e.Env, Target: p.target, Plan: p.plan, Out: out, Events: events}
	j.Placed = fmt.Sprintf("probing %s in %s at %s", cli.Plural(len(p.plan.Funcs), "function"), o.Binary, cli.Plural(p.plan.Probes(), "place"))
	j.Slow = len(p.plan.Events)
	return j.Do(ctx)
}

// job is a run of a view, as far as flags say.
func (o *options) job(v run.View) *run.Job {
	return &run.Job{View: v, Costs: trace.NoCosts{}, For: o.duration, Every: o.interval, Ready: o.ready.tell, MaxLost: o.maxLost}
}

// inside are the functions, by their index in the plan, that calls are wanted of.
func (p *planned) inside(want run.Needs) map[int]bool {
	if !want.Inside {
		return nil
	}
	inside := make(map[int]bool)
	for i := range p.plan.Funcs {
		if p.target.Roles[p.plan.Funcs[i].Func].Inside {
			inside[i] = true
		}
	}
	return inside
}
