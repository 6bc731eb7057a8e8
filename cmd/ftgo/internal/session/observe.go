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
	r := o.run(v)
	if r.program, err = o.findProgram(); err != nil {
		return err
	}
	o.Live = !o.DryRun
	if r.request.Target, err = o.resolve(); err != nil {
		if text := o.Replaced(); text != "" && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; %s", err, text)
		}
		return err
	}
	defer r.request.Target.Binary.Close()
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
	r.unseen = func() string {
		program := ""
		if r.program != nil {
			program = r.program.Path
		}
		return o.WhyUnseen(program, o.Fork)
	}
	if err := r.live(); err != nil {
		return err
	}
	ready()
	return r.do(ctx, o.Binary)
}

// do traces what there is a source of, unless only what it defines is wanted. Files are in use.
func (r *run) do(ctx context.Context, inUse ...string) (err error) {
	if r.program != nil {
		inUse = append(inUse, r.program.Path)
	}
	out, done, err := r.Open(r.Env, inUse...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if r.DryRun {
		_, err = io.WriteString(out, r.definitions())
		return err
	}
	return r.trace(ctx, out)
}

// definitions are what the kernel is told, a line each.
func (p *run) definitions() string {
	var text strings.Builder
	for _, event := range uprobe.TraceEvents(p.request.Plan.Events) {
		lines, _ := event.Definitions("ftgo", printable.Text(p.Binary)) // what can't be defined is told when it is
		for _, l := range lines {
			text.WriteString(l + "\n")
		}
	}
	return text.String()
}

// run is what a view asks for, of the processes and for the time that flags say.
func (o *Options) run(v view.View) *run {
	r := &run{Options: o, view: v, needs: v.Needs()}
	r.request = r.needs.Request
	s := &r.request.Source
	s.Filter, s.Talk, s.Sched, s.BufferKB, s.Shared, s.Alone = o.Filter(), o.Env, o.Sched || o.Waits, o.BufferKB, o.Force, !o.Mixed()
	s.Wait, s.At, s.Budget, s.Succeeded, s.Costs = o.Wait, o.At, o.share(), o.Succeeded, trace.NoCosts{}
	return r
}

// place says what is placed, unless that is too much; each probe takes so long to go.
func (p *run) place(each time.Duration) error {
	n, what := p.request.Plan.Probes()+p.request.Plan.Later(), printable.Plural(p.request.Plan.Asked(), "function")
	if p.request.Plan.Asked() == 0 {
		what = "all waits"
	}
	p.placed = fmt.Sprintf("probing %s in %s at %s", what, p.Binary, printable.Plural(n, "place"))
	return p.checkProbes(n, each)
}

// live plans what hits are recorded, or counted, of.
func (p *run) live() (err error) {
	r := &p.request
	r.Probes.Features, r.Probes.Progress, r.Source.Raw = machine.Machine{}.Features(), p.Doing, p.ReadRaw
	r.Probes.Threads, r.Probes.Sched, r.Probes.Waits, r.Probes.Stack = len(p.With) > 0, p.Sched, p.Waits, p.Stack
	if p.FS != nil {
		r.Probes.Features = p.Adjust(p.FS.Features())
		if err := p.kernelAllows(machine.This().Older(4, 0)); err != nil {
			return err
		}
		if p.scene.Events, err = p.kernelEvents(); err != nil {
			return err
		}
		if err := r.Target.Hold(p.Force); err != nil {
			return err
		}
		r.RecordCounts()
	}
	p.limitMany(r.Probes.Mode)
	r.Source.Budget = p.share()
	if p.needs.Soon || p.Budget != nil && p.share() > 0 && len(p.Program) == 0 && !r.Source.Once {
		r.Probes.First = cmp.Or(p.First, min(firstSites, cmp.Or(trace.BatchSites(p.share()), firstSites)))
		r.Target.MostWanted()
	}
	filter := p.Filter()
	r.Probes.Recorded, r.Probes.Regroups = !filter.All() || p.share() > 0, p.together()
	if err := withStatus(r.MakePlan()); err != nil {
		return err
	}
	if err := p.place(pace(r.Probes.Features, p.FS)); err != nil {
		return err
	}
	if minor, version := p.request.Plan.Binary.GoVersion(); minor > 0 && p.request.Plan.Stack == 1 && p.Stack > 1 {
		p.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	p.sayApart(r.Probes.Follow)
	r.Source.With, r.Source.Costs = p.scene.Events, doctor.NewMeasuring(p.FS, p.Own, r.Probes.Mode, p.Stack)
	p.source = r.Live(p.FS)
	return nil
}

// sayApart says that goroutines can't be followed, though that is wanted.
func (p *run) sayApart(wanted bool) {
	if minor, version := p.request.Plan.Binary.GoVersion(); minor > 0 && wanted && !p.request.Plan.Follows {
		p.Say("what calls start with go is shown apart: where %s makes goroutines is not known", version)
	}
}

// withStatus says how ftgo ends where nothing can be planned.
func withStatus(err error) error {
	if errors.Is(err, uprobe.ErrNoSched) || errors.Is(err, engine.ErrUnprobed) {
		err = cli.WithStatus(cli.ExitNothing, err)
	}
	return err
}
