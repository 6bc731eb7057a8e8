package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// Observe is probe, count and trace: everything from the arguments to the last line.
func Observe(ctx context.Context, e *Env, o *Options, mode uprobe.Mode, v run.View) error {
	return (&planned{env: e, opt: o, view: v}).observe(ctx, func(p *planned) (*opened, error) { return p.live(mode) })
}

// opened is a source that is ready to be armed.
type opened struct {
	// events are what is defined, with so many probes; slow are those of them that take their time to
	// remove.
	events       []tracefs.Event
	probes, slow int
	// where says where calls are counted, if not by ftgo.
	where string
	costs trace.Costs
	// source makes the source, and names the kernel events that it tells.
	source func() (source trace.Source, events []string)
}

// observe does what all have in common that trace what is running, or is started.
func (p *planned) observe(ctx context.Context, open func(*planned) (*opened, error)) (err error) {
	e, o := p.env, p.opt
	if err := checkProcesses(o); err != nil {
		return err
	}
	if o.Wait {
		if !o.Await(ctx, e.Say) {
			return nil // told to end before it had begun
		}
	}
	j := o.job(p.view)
	if j.Program, err = run.FindProgram(&e.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	if p.target, err = o.Resolve(e); err != nil {
		return err
	}
	defer p.target.Binary.Close()
	if !o.DryRun {
		if p.fs, err = openTracefs(e, &o.Recorder); err != nil {
			return err
		}
	}
	s, err := open(p)
	if err != nil {
		return err
	}
	out, done, err := o.Open(&e.Env, o.Program, o.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	definitions := definitionsOf(s.events, o.Binary)
	if o.DryRun {
		_, err = io.WriteString(out, definitions)
		return err
	}
	if o.Verbose {
		fmt.Fprint(e.Stderr, definitions)
	}
	j.Scene = run.Scene{Env: &e.Env, Target: p.target, Plan: p.plan, Out: out}
	j.Source, j.Events = s.source()
	j.Costs, j.Slow = s.costs, s.slow
	j.Placed = fmt.Sprintf("probing %s in %s at %s%s", units.Plural(len(p.plan.Funcs), "function"), o.Binary, units.Plural(s.probes, "place"), s.where)
	return j.Do(ctx)
}

// live plans what hits are recorded, or counted, of.
func (p *planned) live(mode uprobe.Mode) (s *opened, err error) {
	e, o := p.env, p.opt
	p.features = tracefs.Modern
	var events []string
	if p.fs != nil {
		p.features = e.Adjust(p.fs.Features())
		if err := p.kernelAllows(mode, tracefs.KernelOlder(4, 0)); err != nil {
			return nil, err
		}
		if mode == uprobe.Count && !p.features.ExactHits {
			// What is recorded is counted right, and what is lost is told.
			mode, o.Raw = uprobe.CountRecorded, true
		}
		if events, err = o.kernelEvents(p.fs); err != nil {
			return nil, err
		}
		if err := p.target.Hold(o.Force); err != nil {
			return nil, err
		}
	}
	filter := o.Filter()
	if err := p.planFor(uprobe.Options{
		Mode: mode, Features: p.features, Threads: len(o.With) > 0, Sched: o.Sched, Stack: o.Stack,
		CountFirst: o.countFirst(p.target, mode, p.features), Recorded: !filter.All() || o.PerPID,
	}); err != nil {
		return nil, err
	}
	s = &opened{events: uprobe.TraceEvents(p.plan.Events), probes: p.plan.Probes(), slow: len(p.plan.Events)}
	if err := o.checkProbes(e, s.probes, pace(p.features, p.fs)); err != nil {
		return nil, err
	}
	if minor, version := p.plan.Binary.GoVersion(); minor > 0 && p.plan.Stack < o.Stack {
		e.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	s.costs = own.New(p.fs, e.Own, mode, o.Stack)
	want := p.view.Needs()
	s.source = func() (trace.Source, []string) {
		return trace.NewLive(p.fs, p.plan, trace.Options{
			Filter:   filter,
			Recorder: trace.Recorder{Features: p.features, BufferKB: e.BufferKB, Raw: o.Raw, Shared: o.Force},
			Talk:     &e.Env, With: events, Sched: o.Sched, Skipped: p.target.Skipped,
			Entries: want.Entries, Steady: want.Steady, Once: want.Once, Alone: !o.Mixed(), Inside: p.inside(want),
			Limit: want.Limit, Wait: o.Wait, MaxRate: o.RateLimit(), Costs: s.costs,
		}), events
	}
	return s, nil
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
