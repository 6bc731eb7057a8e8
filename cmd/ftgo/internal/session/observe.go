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
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// planned is what a command is to do, before anything is done.
type planned struct {
	*Options
	view    view.View
	request engine.Request
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
	p := o.planned(v)
	j := p.job()
	if j.Program, err = view.FindProgram(&o.Env.Env, o.Program, o.File == ""); err != nil {
		return err
	}
	o.Live = !o.DryRun
	if p.request.Target, err = o.resolve(); err != nil {
		if text := o.Replaced(); text != "" && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; %s", err, text)
		}
		return err
	}
	defer p.request.Target.Binary.Close()
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
	j.Env, j.Target, j.Plan, j.Out = &p.Env.Env, p.request.Target, p.request.Plan, out
	return j.Do(ctx)
}

// definitions are what the kernel is told, a line each.
func (p *planned) definitions() string {
	var text strings.Builder
	for _, event := range uprobe.TraceEvents(p.request.Plan.Events) {
		lines, _ := event.Definitions("ftgo", printable.Text(p.Binary)) // what can't be defined is told when it is
		for _, l := range lines {
			text.WriteString(l + "\n")
		}
	}
	return text.String()
}

// planned is what a view asks for, as far as flags say.
func (o *Options) planned(v view.View) *planned {
	p := &planned{Options: o, view: v, request: engine.Request{Values: v.Values}}
	p.ask()
	return p
}

// job is a run of the view, as far as flags say.
func (o *planned) job() *view.Job {
	return &view.Job{View: o.view, Costs: trace.NoCosts{}, For: o.Duration, Every: o.Interval, Ready: o.Ready.tell, MaxLost: o.MaxLost}
}

// place says what is placed, unless that is too much; each probe takes so long to go.
func (p *planned) place(j *view.Job, each time.Duration) error {
	n, what := p.request.Plan.Probes()+p.request.Plan.Later(), printable.Plural(p.request.Plan.Asked(), "function")
	if p.request.Plan.Asked() == 0 {
		what = "all waits"
	}
	j.Placed = fmt.Sprintf("probing %s in %s at %s", what, p.Binary, printable.Plural(n, "place"))
	return p.checkProbes(n, each)
}

// live plans what hits are recorded, or counted, of.
func (p *planned) live(j *view.Job) (err error) {
	needs, r := p.view.Needs(), &p.request
	r.Probes = uprobe.Options{
		Mode: needs.Mode, Features: machine.Machine{}.Features(), Threads: len(p.With) > 0, Sched: p.Sched, Waits: p.Waits, Stack: p.Stack, Follow: needs.Follow,
		Progress: p.Doing,
	}
	r.Source.Raw = p.ReadRaw
	if p.FS != nil {
		r.Probes.Features = p.Adjust(p.FS.Features())
		if err := p.kernelAllows(needs.Mode, machine.This().Older(4, 0)); err != nil {
			return err
		}
		if j.Events, err = p.kernelEvents(); err != nil {
			return err
		}
		if err := r.Target.Hold(p.Force); err != nil {
			return err
		}
		r.RecordCounts()
	}
	p.limitMany(r.Probes.Mode)
	r.Source.Budget = p.share()
	if needs.Soon || p.Budget != nil && p.share() > 0 && len(p.Program) == 0 && !needs.Once {
		r.Probes.First = cmp.Or(p.First, min(firstSites, cmp.Or(trace.BatchSites(p.share()), firstSites)))
		r.Target.MostWanted()
	}
	filter := p.Filter()
	r.Probes.Recorded, r.Probes.Regroups = !filter.All() || p.share() > 0, p.together()
	if err := withStatus(r.MakePlan()); err != nil {
		return err
	}
	if err := p.place(j, pace(r.Probes.Features, p.FS)); err != nil {
		return err
	}
	if minor, version := p.request.Plan.Binary.GoVersion(); minor > 0 && p.request.Plan.Stack == 1 && p.Stack > 1 {
		p.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	p.sayApart(needs.Follow)
	j.Costs = doctor.NewMeasuring(p.FS, p.Own, r.Probes.Mode, p.Stack)
	r.Source.With, r.Source.Costs = j.Events, j.Costs
	j.Source = r.Live(p.FS)
	return nil
}

// sayApart says that goroutines can't be followed, though that is wanted.
func (p *planned) sayApart(wanted bool) {
	if minor, version := p.request.Plan.Binary.GoVersion(); minor > 0 && wanted && !p.request.Plan.Follows {
		p.Say("what calls start with go is shown apart: where %s makes goroutines is not known", version)
	}
}

// ask says what a source is to do, as far as flags and the view say.
func (p *planned) ask() {
	want := p.view.Needs()
	p.request.MarkInside = want.Inside
	p.request.Source = trace.Options{
		Filter: p.Filter(), Talk: &p.Env.Env, Sched: p.Sched || p.Waits,
		Recorder: trace.Recorder{BufferKB: p.BufferKB, Shared: p.Force},
		Entries:  want.Entries, Steady: want.Steady, Once: want.Once, Limit: want.Limit,
		Alone: !p.mixed(), Wait: p.Wait, At: p.At, Budget: p.share(), Succeeded: p.Succeeded,
	}
}

// withStatus says how ftgo ends where nothing can be planned.
func withStatus(err error) error {
	if errors.Is(err, uprobe.ErrNoSched) || errors.Is(err, engine.ErrUnprobed) {
		err = cli.WithStatus(cli.ExitNothing, err)
	}
	return err
}
