package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// planned is what a command is to do, before anything is done.
type planned struct {
	*Options
	view   view.View
	target *target.Target
	plan   *uprobe.Plan
	// features are what the kernel can do, or what it is to be used for.
	features tracefs.Features
	raw      bool // events are read as pages of the ring buffer
}

// Observe is probe, count, trace and watch: everything from the arguments to the last line.
func (o *Options) Observe(ctx context.Context, v view.View) (err error) {
	if err := o.checkProcesses(); err != nil {
		return err
	}
	if o.Wait && !o.Await(ctx, o.Say) {
		return nil // told to end before it had begun
	}
	ready := sync.OnceFunc(o.Progress("reading " + o.Binary))
	defer ready()
	o.Sole = o.Sole && o.alone()
	p := &planned{Options: o, view: v}
	j := p.job()
	if j.Program, err = view.FindProgram(&o.Env.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	o.Live = !o.DryRun
	if p.target, err = o.resolve(); err != nil {
		if text := o.Replaced(); text != "" && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; %s", err, text)
		}
		return err
	}
	defer p.target.Binary.Close()
	if !o.DryRun {
		if len(o.PIDs)+len(o.Program) == 0 && !o.Succeeded {
			if text := o.Replaced(); text != "" {
				o.Say("%s", text)
			}
		}
		if err := o.openTracefs(); err != nil {
			return err
		}
	}
	j.Unseen = func() string {
		program := ""
		if j.Program != nil {
			program = j.Program.Path
		}
		return o.WhyUnseen(program, o.Fork)
	}
	if err := p.live(j); err != nil {
		return err
	}
	ready()
	return p.do(ctx, j, o.Binary)
}

// do runs a job whose source is there, unless only what it defines is wanted. Files are in use.
func (p *planned) do(ctx context.Context, j *view.Job, inUse ...string) (err error) {
	if j.Program != nil {
		inUse = append(inUse, j.Program.Path)
	}
	out, done, err := p.Open(&p.Env.Env, inUse...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if p.DryRun {
		_, err = io.WriteString(out, p.definitions())
		return err
	}
	j.Env, j.Target, j.Plan, j.Out = &p.Env.Env, p.target, p.plan, out
	return j.Do(ctx)
}

// definitions are what the kernel is told, a line each.
func (p *planned) definitions() string {
	var text strings.Builder
	for _, event := range uprobe.TraceEvents(p.plan.Events) {
		lines, _ := event.Definitions("ftgo", printable.Text(p.Binary)) // what can't be defined is told when it is
		for _, l := range lines {
			text.WriteString(l + "\n")
		}
	}
	return text.String()
}

// job is a run of the view, as far as flags say.
func (o *planned) job() *view.Job {
	return &view.Job{View: o.view, Costs: trace.NoCosts{}, For: o.Duration, Every: o.Interval, Ready: o.Ready.tell, MaxLost: o.MaxLost}
}

// place says what is placed, unless that is too much; each probe takes so long to go.
func (p *planned) place(j *view.Job, each time.Duration) error {
	n, what := p.plan.Probes()+p.plan.Later(), printable.Plural(p.plan.Asked(), "function")
	if p.plan.Asked() == 0 {
		what = "all waits"
	}
	j.Placed = fmt.Sprintf("probing %s in %s at %s", what, p.Binary, printable.Plural(n, "place"))
	return p.checkProbes(n, each)
}

// live plans what hits are recorded, or counted, of.
func (p *planned) live(j *view.Job) (err error) {
	needs := p.view.Needs()
	mode := needs.Mode
	p.features, p.raw = machine.Machine{}.Features(), p.ReadRaw
	if p.FS != nil {
		p.features = p.Adjust(p.FS.Features())
		if err := p.kernelAllows(mode, machine.This().Older(4, 0)); err != nil {
			return err
		}
		if mode == uprobe.Count && (!p.features.ExactHits || p.share() > 0) {
			// What is recorded is counted right, and what is lost is told; and a budget asks when calls were.
			mode, p.raw = uprobe.CountRecorded, true
		}
		if j.Events, err = p.kernelEvents(); err != nil {
			return err
		}
		if err := p.target.Hold(p.Force); err != nil {
			return err
		}
	}
	p.limitMany(mode)
	filter, first := p.Filter(), 0
	if needs.Soon || p.Budget != nil && p.share() > 0 && len(p.Program) == 0 && !needs.Once {
		first = cmp.Or(p.First, min(firstSites, cmp.Or(trace.BatchSites(p.share()), firstSites)))
		p.target.MostWanted()
	}
	if err := p.planFor(uprobe.Options{
		Mode: mode, Features: p.features, Threads: len(p.With) > 0, Sched: p.Sched, Waits: p.Waits, Stack: p.Stack, Follow: needs.Follow,
		First: first, Recorded: !filter.All() || p.share() > 0, Regroups: p.together(),
	}); err != nil {
		return err
	}
	if err := p.place(j, pace(p.features, p.FS)); err != nil {
		return err
	}
	if minor, version := p.plan.Binary.GoVersion(); minor > 0 && p.plan.Stack == 1 && p.Stack > 1 {
		p.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	p.sayApart(needs.Follow)
	j.Costs = doctor.NewMeasuring(p.FS, p.Own, mode, p.Stack)
	opt := p.source()
	opt.With, opt.Costs = j.Events, j.Costs
	j.Source = trace.NewLive(p.FS, p.plan, opt)
	return nil
}

// sayApart says that goroutines can't be followed, though that is wanted.
func (p *planned) sayApart(wanted bool) {
	if minor, version := p.plan.Binary.GoVersion(); minor > 0 && wanted && !p.plan.Follows {
		p.Say("what calls start with go is shown apart: where %s makes goroutines is not known", version)
	}
}

// source is what a source is to do, as far as flags and the view say.
func (p *planned) source() trace.Options {
	want := p.view.Needs()
	opt := trace.Options{
		Filter: p.Filter(), Talk: &p.Env.Env, Sched: p.Sched || p.Waits,
		Recorder: trace.Recorder{Features: p.features, BufferKB: p.BufferKB, Raw: p.raw, Shared: p.Force},
		Entries:  want.Entries, Steady: want.Steady, Once: want.Once, Limit: want.Limit,
		Alone: !p.mixed(), Wait: p.Wait, At: p.At,
		Budget: p.share(), Named: make(map[int]bool), Succeeded: p.Succeeded,
	}
	for i := range p.plan.Funcs {
		opt.Named[i] = p.plan.Funcs[i].Point || p.target.Roles[p.plan.Funcs[i].Func].Named
	}
	if want.Inside {
		opt.Inside = make(map[int]bool)
		for i := range p.plan.Funcs {
			if p.target.Roles[p.plan.Funcs[i].Func].Inside {
				opt.Inside[i] = true
			}
		}
	}
	return opt
}

// planFor decodes what was selected and plans the probes, with what the view wants to be fetched.
func (p *planned) planFor(opt uprobe.Options) (err error) {
	if opt.Values, err = p.view.Values(p.target, p.features); err != nil {
		return err
	}
	opt.Points, opt.Progress = p.target.Sites, p.Doing
	p.plan, err = uprobe.New(p.target.Binary, p.target.Funcs, opt)
	switch {
	case errors.Is(err, uprobe.ErrNoSched):
		return cli.WithStatus(cli.ExitNothing, err)
	case err != nil || len(p.plan.Events) > 0:
		return err
	}
	first, more := p.plan.Skipped[0], ""
	if n := len(p.plan.Skipped) - 1; n > 0 {
		more = fmt.Sprintf("; nor can %d more", n)
	}
	return cli.Nothing("%s: can't be probed: %v%s", first.Name, first.Err, more)
}
