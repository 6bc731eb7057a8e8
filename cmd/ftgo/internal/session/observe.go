package session

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

// Observe is probe, count and trace: everything from the arguments to the last line.
func Observe(ctx context.Context, e *Env, o *Options, mode uprobe.Mode, v run.View) (err error) {
	if err := checkProcesses(o); err != nil {
		return err
	}
	if o.Wait {
		if !o.Await(ctx, e.Say) {
			return nil // told to end before it had begun
		}
	}
	p := &planned{env: e, opt: o, view: v}
	j := o.job(v)
	if j.Program, err = run.FindProgram(&e.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	if p.target, err = o.Resolve(e); err != nil {
		return err
	}
	defer p.target.Binary.Close()
	p.features = tracefs.Features{Append: true, PushEmulated: true, Arrays: true, Memory: true, Instances: true, ExactHits: true}
	var fsys *tracefs.FS
	var events []string
	if !o.DryRun {
		if fsys, err = openTracefs(e, o); err != nil {
			return err
		}
		p.features = e.Adjust(fsys.Features())
		if err := p.kernelAllows(mode, tracefs.KernelOlder(4, 0)); err != nil {
			return err
		}
		if mode == uprobe.Count && !p.features.ExactHits {
			// What is recorded is counted right, and what is lost is told.
			mode, o.Reader = uprobe.CountRecorded, tracefs.Raw
		}
		if events, err = o.kernelEvents(fsys); err != nil {
			return err
		}
		if err := p.target.Hold(o.Force); err != nil {
			return err
		}
	}
	values, err := v.Values(p.target, p.features)
	if err != nil {
		return err
	}
	if p.plan, err = planFor(e, p.target, uprobe.Options{
		Mode: mode, Features: p.features, Values: values, Threads: len(o.With) > 0, Sched: o.Sched, Stack: o.Stack,
		CountFirst: o.countFirst(p.target, mode, p.features), Recorded: o.Restricted() || o.PerPID,
	}); err != nil {
		return err
	}
	if slices.ContainsFunc(uprobe.TraceEvents(p.plan.Events), tracefs.Event.LongText) {
		o.Reader = tracefs.Raw
	}
	if err := o.checkProbes(e, p.plan.Probes(), pace(p.features, fsys)); err != nil {
		return err
	}
	sayStack(e, o, p.plan)
	out, done, err := o.Open(&e.Env, o.Program, o.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	definitions := definitionsOf(uprobe.TraceEvents(p.plan.Events), o.Binary)
	if o.DryRun {
		_, err = io.WriteString(out, definitions)
		return err
	}
	if o.Verbose {
		fmt.Fprint(e.Stderr, definitions)
	}
	j.Costs = own.New(fsys, e.Own, mode, o.Stack)
	want := v.Needs()
	j.Source = trace.NewLive(fsys, p.plan, trace.Options{
		Filter:   trace.Filter{PIDs: o.PIDs, Fork: o.Fork, Comm: o.Comm},
		Recorder: trace.Recorder{Features: p.features, BufferKB: e.BufferKB, Reader: o.Reader, Shared: o.Force},
		Talk:     &e.Env, With: events, Sched: o.Sched, Skipped: p.target.Skipped,
		Entries: want.Entries, Steady: want.Steady, Once: want.Once, Alone: !o.Mixed(), Inside: p.inside(want),
		Limit: want.Limit, Wait: o.Wait, MaxRate: o.RateLimit(), Costs: j.Costs,
	})
	j.Scene = run.Scene{Env: &e.Env, Target: p.target, Plan: p.plan, Out: out, Events: events}
	j.Placed = fmt.Sprintf("probing %s in %s at %s", cli.Plural(len(p.plan.Funcs), "function"), o.Binary, cli.Plural(p.plan.Probes(), "place"))
	j.Slow = len(p.plan.Events)
	return j.Do(ctx)
}

// job is a run of a view, as far as flags say.
func (o *Options) job(v run.View) *run.Job {
	return &run.Job{View: v, Costs: trace.NoCosts{}, For: o.Duration, Every: o.Interval, Ready: o.Ready.tell, MaxLost: o.MaxLost}
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
