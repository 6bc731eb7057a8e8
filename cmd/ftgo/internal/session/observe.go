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

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Observe runs a view, from the checked flags to the last line of output. It is the whole of probe, count, trace, watch,
// and top without a screen. The screen of top and export call it for each of their runs.
func (o *Options) Observe(ctx context.Context, v view.View) (err error) {
	if err := o.checkProcesses(); err != nil {
		return err
	}
	ready := sync.OnceFunc(o.Progress("reading " + o.Binary))
	defer ready()
	o.OnlyUser = o.OnlyUser && o.isOnlyUser()
	r := o.newRun(v)
	if r.program, err = o.newProgram(); err != nil {
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
		if len(o.PIDs)+len(o.Program) == 0 && !o.Successors {
			if text := o.Replaced(); text != "" {
				o.Say("%s", text)
			}
		}
		if err := o.openTracefs(); err != nil {
			return err
		}
	}
	if err := r.planLive(); err != nil {
		return err
	}
	ready()
	return r.execute(ctx, o.Binary)
}

// execute runs the trace, or with --dry-run prints the definitions of its probes. Output must not overwrite the
// files in inUse.
func (r *run) execute(ctx context.Context, inUse ...string) error {
	if r.program != nil {
		inUse = append(inUse, r.program.Path)
	}
	return r.Write(r.Env, inUse, func(out io.Writer) error {
		if r.DryRun {
			_, err := io.WriteString(out, r.definitions())
			return err
		}
		return r.trace(ctx, out)
	})
}

// definitions returns the definitions of the probes in the kernel's syntax, each on a line.
func (r *run) definitions() string {
	var text strings.Builder
	for _, event := range uprobe.TraceEvents(r.request.Plan.Events) {
		// On an error, the event is left out here. A run without --dry-run returns the error.
		lines, _ := event.Definitions("ftgo", printable.Text(r.Binary))
		for _, l := range lines {
			text.WriteString(l + "\n")
		}
	}
	return text.String()
}

// newRun returns a run of a view. The source gets the groups of flags that concern it.
func (o *Options) newRun(v view.View) *run {
	r := &run{Options: o, view: v, needs: v.Needs()}
	r.request = r.needs.Request
	s := &r.request.Source
	o.Soon = r.needs.Soon
	s.Filter, s.Talk, s.Budget, s.Successors, s.Costs = o.Filter, o.Env, o.budgetShare(), o.Successors, trace.NoCosts{}
	s.Recorder = tracefs.Options{BufferKB: o.BufferKB, Raw: o.ReadRaw, TopLevel: o.Force}
	return r
}

// planLive plans the probes of a run on this machine, and sets the run's source.
func (r *run) planLive() (err error) {
	q := &r.request
	q.Probes.Features = tracefs.Machine{}.Features()
	q.Probes.Threads, q.Probes.Sched, q.Probes.Waits, q.Probes.Stack = len(r.With) > 0, r.Sched, r.Waits, r.Stack
	if r.FS != nil {
		q.Probes.Features = r.Adjust(r.FS.Features())
		if err := r.checkKernel(tracefs.ThisMachine().Older(4, 0)); err != nil {
			return err
		}
		if r.scene.Events, err = r.kernelEvents(); err != nil {
			return err
		}
		if err := q.Target.Hold(r.Force); err != nil {
			return err
		}
		q.RecordCounts()
	}
	r.limitMany(q.Probes.Mode)
	q.Source.Budget = r.budgetShare()
	if q.Target.Pair != nil {
		q.Source.CostLimit = r.costLimit()
	}
	if r.Soon || r.Budget != nil && r.budgetShare() > 0 && len(r.Program) == 0 && !q.Source.Once {
		q.Probes.FirstSites = cmp.Or(r.FirstSites, trace.BatchSites(r.budgetShare()))
		q.Target.SortByInterest()
	}
	q.Probes.Recorded, q.Probes.GroupSize = !r.Filter.All() || r.budgetShare() > 0, r.groupSize()
	if err := withPlanStatus(q.MakePlan()); err != nil {
		return err
	}
	q.Source.Verbose = r.Verbose || r.DryRun
	q.Source.Explain(q.CountAlone())
	subject, places := "all waits", q.Plan.Probes()+q.Plan.DeferredSites()
	if n := q.Plan.RequestedFuncs(); n > 0 {
		subject = printable.Plural(n, "function")
	}
	r.placement = fmt.Sprintf("probing %s in %s at %s", subject, r.Binary, printable.Plural(places, "place"))
	if err := r.checkProbes(places, q.Probes.Features, r.FS); err != nil {
		return err
	}
	if minor, version := r.request.Plan.Binary.GoVersion(); minor > 0 && r.request.Plan.Stack == 1 && r.Stack > 1 {
		r.Say("%s keeps no frame pointers: of each stack only the caller is known", version)
	}
	r.sayUnfollowed(q.Probes.Follow)
	hits := q.Probes.Mode
	if q.Source.Alone { // these hits are not recorded, too
		hits = uprobe.Count
	}
	q.Source.With, q.Source.Costs = r.scene.Events, doctor.NewMeasuring(r.FS, r.CostFuncs, hits, r.Stack)
	r.source = q.Live(r.FS)
	return nil
}

// sayUnfollowed prints a message if the view needs the call that started each goroutine, but ftgo can't find the go
// statements in the binary. follow says that the view needs these calls.
func (r *run) sayUnfollowed(follow bool) {
	if minor, version := r.request.Plan.Binary.GoVersion(); minor > 0 && follow && !r.request.Plan.Follow {
		r.Say("goroutines are shown apart from the calls that start them, because ftgo does not know where %s creates goroutines", version)
	}
}

func withPlanStatus(err error) error {
	if errors.Is(err, uprobe.ErrNoSched) || errors.Is(err, engine.ErrUnprobed) {
		err = cli.WithStatus(cli.ExitNothing, err)
	}
	return err
}
