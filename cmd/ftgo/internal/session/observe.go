package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// planned is what a command is to do, before anything is done.
type planned struct {
	*Options
	view   run.View
	target *target.Target
	plan   *uprobe.Plan
	// fs is nil where nothing is to be done.
	fs *tracefs.FS
	// features are what the kernel can do, or what it is to be used for.
	features tracefs.Features
}

// Observe is probe, count, trace and watch: everything from the arguments to the last line.
func (o *Options) Observe(ctx context.Context, mode uprobe.Mode, v run.View) (err error) {
	if err := o.checkProcesses(); err != nil {
		return err
	}
	if o.Wait && !o.Await(ctx, o.Say) {
		return nil // told to end before it had begun
	}
	p := &planned{Options: o, view: v}
	j := p.job()
	if j.Program, err = run.FindProgram(&o.Env.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	if p.target, err = o.resolve(); err != nil {
		return err
	}
	defer p.target.Binary.Close()
	if !o.DryRun {
		if p.fs, err = o.openTracefs(); err != nil {
			return err
		}
	}
	var events []tracefs.Event
	if o.InKernel {
		events, err = p.inKernel(j)
	} else {
		events, err = p.live(j, mode)
	}
	if err != nil {
		return err
	}
	return p.do(ctx, j, events, o.Binary)
}

// do runs a job whose source is there, unless only what it defines is wanted. Files are in use.
func (p *planned) do(ctx context.Context, j *run.Job, events []tracefs.Event, inUse ...string) (err error) {
	if j.Program != nil {
		inUse = append(inUse, j.Program.Path())
	}
	out, done, err := p.Open(&p.Env.Env, inUse...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	var definitions strings.Builder
	for i := range events {
		for _, l := range events[i].Definitions("ftgo", printable.Text(p.Binary)) {
			definitions.WriteString(l + "\n")
		}
	}
	if p.DryRun {
		_, err = io.WriteString(out, definitions.String())
		return err
	}
	if p.Verbose {
		fmt.Fprint(p.Stderr, definitions.String())
	}
	j.Env, j.Target, j.Plan, j.Out = &p.Env.Env, p.target, p.plan, out
	return j.Do(ctx)
}

// job is a run of the view, as far as flags say.
func (o *planned) job() *run.Job {
	return &run.Job{View: o.view, Costs: trace.NoCosts{}, For: o.Duration, Every: o.Interval, Ready: o.Ready.tell, MaxLost: o.MaxLost}
}

// placed says what is placed.
func (p *planned) placed(probes int, where string) string {
	return fmt.Sprintf("probing %s in %s at %s%s", units.Plural(len(p.plan.Funcs), "function"), p.Binary, units.Plural(probes, "place"), where)
}

// live plans what hits are recorded, or counted, of.
func (p *planned) live(j *run.Job, mode uprobe.Mode) (events []tracefs.Event, err error) {
	p.features = tracefs.Modern
	if p.fs != nil {
		p.features = p.Adjust(p.fs.Features())
		if err := p.kernelAllows(mode, tracefs.KernelOlder(4, 0)); err != nil {
			return nil, err
		}
		if mode == uprobe.Count && !p.features.ExactHits {
			// What is recorded is counted right, and what is lost is told.
			mode, p.Raw = uprobe.CountRecorded, true
		}
		if j.Events, err = p.kernelEvents(); err != nil {
			return nil, err
		}
		if err := p.target.Hold(p.Force); err != nil {
			return nil, err
		}
	}
	filter := p.Filter()
	if err := p.planFor(uprobe.Options{
		Mode: mode, Features: p.features, Threads: len(p.With) > 0, Sched: p.Sched, Stack: p.Stack,
		CountFirst: p.countFirst(mode), Recorded: !filter.All() || p.PerPID,
	}); err != nil {
		return nil, err
	}
	events, j.Slow = uprobe.TraceEvents(p.plan.Events), len(p.plan.Events)
	j.Placed = p.placed(p.plan.Probes(), "")
	if err := p.checkProbes(p.plan.Probes(), pace(p.features, p.fs)); err != nil {
		return nil, err
	}
	if minor, version := p.plan.Binary.GoVersion(); minor > 0 && p.plan.Stack < p.Stack {
		p.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	j.Costs = own.New(p.fs, p.Own, mode, p.Stack)
	want := p.view.Needs()
	j.Source = trace.NewLive(p.fs, p.plan, trace.Options{
		Filter:   filter,
		Recorder: trace.Recorder{Features: p.features, BufferKB: p.BufferKB, Raw: p.Raw, Shared: p.Force},
		Talk:     &p.Env.Env, With: j.Events, Sched: p.Sched, Skipped: p.target.Skipped,
		Entries: want.Entries, Steady: want.Steady, Once: want.Once, Alone: !p.mixed(), Inside: p.inside(want),
		Limit: want.Limit, Wait: p.Wait, MaxRate: p.RateLimit(), Costs: j.Costs,
	})
	return events, nil
}

// inKernel plans what the kernel keeps histograms of.
func (p *planned) inKernel(j *run.Job) ([]tracefs.Event, error) {
	t := p.target
	if len(t.Sites) > 0 {
		return nil, cli.Usage("--in-kernel takes functions, not instructions like %s", t.Sites[0].Name)
	}
	if p.fs != nil {
		if err := p.fs.CheckHistograms(); err != nil {
			return nil, err
		}
		if err := t.Hold(p.Force); err != nil {
			return nil, err
		}
	}
	decoded, stop := p.decoding()
	plan, err := uprobe.NewHistograms(t.Binary, t.Funcs, decoded)
	stop()
	if err != nil {
		return nil, err
	}
	if len(plan.Funcs) == 0 {
		return nil, noneOf(plan.Skipped, "can't be probed in the kernel")
	}
	p.plan = &uprobe.Plan{Binary: t.Binary, Mode: uprobe.Latency, Funcs: plan.Funcs}
	j.Placed = p.placed(plan.Probes(), ", in the kernel")
	j.Source = trace.NewInKernel(p.fs, t.Binary, plan, trace.Options{
		Filter: p.Filter(), Talk: &p.Env.Env, Skipped: t.Skipped, OpenCalls: p.OpenCalls,
	})
	return []tracefs.Event{plan.Calls.Entry, plan.Calls.Return}, p.checkProbes(plan.Probes(), 0)
}

// planFor decodes what was selected and plans the probes, with what the view wants to be fetched.
func (p *planned) planFor(opt uprobe.Options) (err error) {
	if opt.Values, err = p.view.Values(p.target, p.features); err != nil {
		return err
	}
	var stop func()
	opt.Points = p.target.Sites
	opt.Decoded, stop = p.decoding()
	p.plan, err = uprobe.New(p.target.Binary, p.target.Funcs, opt)
	stop()
	switch {
	case errors.Is(err, uprobe.ErrNoSched):
		return cli.WithStatus(cli.ExitNothing, err)
	case err != nil:
		return err
	case len(p.plan.Funcs) == 0:
		return noneOf(p.plan.Skipped, "can't be probed")
	}
	return nil
}

// decoding counts functions that are decoded, and tells how many while that is going on.
func (p *planned) decoding() (decoded *atomic.Int64, stop func()) {
	decoded = new(atomic.Int64)
	return decoded, p.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(p.target.Funcs))
	})
}

// noneOf tells why there is nothing to probe.
func noneOf(skipped []uprobe.Skipped, what string) error {
	first, more := skipped[0], ""
	if n := len(skipped) - 1; n > 0 {
		more = fmt.Sprintf("; nor can %d more", n)
	}
	return cli.Nothing("%s: %s: %v%s", first.Func.Name, what, first.Reason, more)
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
