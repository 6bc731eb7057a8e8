package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// view is what a command makes of what a source tells: tables, or lines. An error ends the run,
// errEnough ends it well.
type view interface {
	// Needs depends on flags alone.
	Needs() needs
	// Values tells what to fetch of calls; nil is nothing.
	Values(*target.Target, tracefs.Features) (planValues, error)
	// Begin comes when all is ready to start.
	Begin(*scene) error
	Entry(*parse.Call) error
	Return(*parse.Call) error
	Kernel(*parse.KernelEvent) error
	ProcessEnded(pid int)
	// Flush comes when all that was read was told, 50 times a second: to write, and to obey keys.
	Flush() error
	// Interval comes at its place among the calls.
	Interval(*trace.Table) error
	// End comes last, once Begin has come: with nil if nothing was measured.
	End(*trace.Table) error
}

// needs are what a view wants of a source.
type needs struct {
	// Entries, Steady and Once are those of [trace.Options], and so is Limit.
	Entries, Steady, Once bool
	Limit                 uint64
	// Memory: it is nothing without what is fetched from memory.
	Memory bool
	// Stacks: the table adds up calls by their callers.
	Stacks bool
	// Inside: calls are marked that functions with that role make.
	Inside bool
	// Intervals: tables are of what has happened since the one before, too.
	Intervals bool
}

// planValues is [uprobe.Options].Values.
type planValues func(*offsets.Func, *offsets.Sites) (uprobe.Values, error)

// scene is what a view sees of a run before it begins.
type scene struct {
	env    *env
	target *target.Target
	plan   *uprobe.Plan
	out    io.Writer
	clock  *trace.Clock
	totals *trace.Totals
	// stacks are those of Needs.Stacks.
	stacks *trace.Stacks
	// events are the names of the kernel's that are told.
	events []string
	// recorded is when the window of a recording began; it is zero for what is live.
	recorded time.Time
}

// nothingElse is a view that does nothing with what it does not need.
type nothingElse struct{}

func (nothingElse) Entry(*parse.Call) error         { return nil }
func (nothingElse) Return(*parse.Call) error        { return nil }
func (nothingElse) Kernel(*parse.KernelEvent) error { return nil }
func (nothingElse) ProcessEnded(int)                {}
func (nothingElse) Flush() error                    { return nil }
func (nothingElse) Interval(*trace.Table) error     { return nil }

func (nothingElse) Values(*target.Target, tracefs.Features) (planValues, error) { return nil, nil }

// errEnough ends a run for a good reason.
var errEnough = errors.New("enough")

// source is a [trace.Source] with a clock.
type source interface {
	trace.Source
	Clock() *trace.Clock
}

// job is a run that is to be done.
type job struct {
	scene
	opt     *options
	view    view
	source  source
	costs   trace.Costs
	program *program // nil if none is started
	// placed says what was placed where; of a recording there is nothing to say.
	placed string
	// cutOff is said of a result that is not all there is.
	cutOff error
	// slow is how many events take their time to remove.
	slow int
}

// running is a run that is being done.
type running struct {
	*job
	// expired comes when the time is up, which is counted from the window's beginning on.
	expired <-chan time.Time
	// failed is the view's first error.
	failed  error
	written bool // somebody writes to the binary
	last    *trace.Reading
	table   *trace.Table // the last
}

// do runs a job from the arming of its source to the last line, and removes the probes whatever
// happens.
func (j *job) do(ctx context.Context) (err error) {
	j.scene.clock = j.source.Clock()
	want := j.view.Needs()
	if want.Stacks {
		j.scene.stacks = trace.NewStacks(j.target.Binary)
	}
	j.scene.totals = trace.NewTotals(j.plan, trace.TotalsOptions{
		Clock: j.scene.clock, Costs: j.costs, Errors: j.opt.errors, PerProcess: j.opt.perPID, Stacks: j.scene.stacks,
		Intervals: want.Intervals, Ended: want.Limit > 0,
	})
	r := &running{job: j}
	if err := j.view.Begin(&j.scene); err != nil {
		return err
	}
	defer func() {
		if r.table == nil {
			err = errors.Join(err, j.view.End(nil))
		}
	}()
	defer j.costs.Wait()
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.follow(ctx); err != nil {
		r.table = nil
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return cli.BeforeItBegan(ctx)
		}
		return err
	}
	r.sayDoubts()
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it.
	closed := r.close()
	if err := errors.Join(j.view.End(r.table), closed); err != nil {
		return err
	}
	if j.cutOff != nil {
		return j.cutOff
	}
	return j.opt.verdict(r.table.Lost, j.target, r.written, j.program)
}

// follow runs from the arming of the source to its last reading.
func (r *running) follow(ctx context.Context) error {
	stop := r.env.Progress(func() string { return fmt.Sprintf("placing %d probes", r.plan.Probes()) })
	err := r.source.Arm(ctx, r)
	stop()
	if err != nil {
		return err
	}
	if r.placed != "" {
		r.env.Say("%s, %s", r.placed, r.opt.until())
	}
	if err := r.opt.auto.ready.tell(); err != nil {
		return err
	}
	if r.program != nil {
		if err := r.source.Spawn(r.program); err != nil {
			return err
		}
	}
	err = errors.Join(r.watch(ctx), r.stop())
	if !errors.Is(r.failed, errEnough) {
		err = errors.Join(r.failed, err)
	}
	return err
}

// watch reads until there is a reason to end.
func (r *running) watch(ctx context.Context) error {
	ends := make(<-chan struct{})
	if r.program != nil {
		ends = r.program.done
	}
	tick := make(<-chan time.Time)
	if r.opt.interval > 0 {
		ticker := time.NewTicker(r.opt.interval)
		defer ticker.Stop()
		tick = ticker.C
	}
	// Nothing that is read is waited for when the program has ended.
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer r.program.atEnd(cancel)()
	for {
		err := r.source.Read(reading)
		if err == nil && r.failed == nil {
			r.failed = r.view.Flush()
		}
		switch {
		case r.failed != nil:
			return nil
		case errors.Is(err, trace.ErrWritten):
			r.written = true
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, trace.ErrLimit), errors.Is(err, trace.ErrGone), err != nil && reading.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ends:
			return nil
		case <-ctx.Done():
			return nil
		case <-r.expired:
			return nil
		case <-tick:
			if err := r.source.Mark(); err != nil {
				return err
			}
		default:
		}
	}
}

// stop ends the window, and reads what is left.
func (r *running) stop() error {
	if r.slow > 0 {
		defer r.env.Progress(func() string {
			return fmt.Sprintf("removing the probes, a moment for each of %s", cli.Plural(r.slow, "event"))
		})()
	}
	stopped := r.source.Stop()
	for {
		// Not to be cancelled: it ends by itself, and the accounts are to balance.
		switch err := r.source.Read(context.Background()); {
		case errors.Is(err, io.EOF):
			return stopped
		case err != nil:
			return errors.Join(stopped, err)
		}
	}
}

// close removes the probes and ends the program.
func (r *running) close() error {
	err := r.source.Close()
	if r.program != nil && r.program.cmd.Process != nil {
		r.program.end()
	}
	return err
}

// Counted, Entry, Return, Kernel, ProcessEnded and Reading take what the source tells.

func (r *running) Counted(pid, fn int) { r.totals.Counted(pid, fn) }

func (r *running) Entry(c *parse.Call) {
	if r.failed == nil {
		r.failed = r.view.Entry(c)
	}
}

func (r *running) Return(c *parse.Call) {
	if r.totals.Return(c); r.failed == nil {
		r.failed = r.view.Return(c)
	}
}

func (r *running) Kernel(ev *parse.KernelEvent) {
	if r.totals.Kernel(ev); r.failed == nil {
		r.failed = r.view.Kernel(ev)
	}
}

func (r *running) ProcessEnded(pid int) {
	r.totals.ProcessEnded(pid)
	r.view.ProcessEnded(pid)
}

func (r *running) Reading(at *trace.Reading) {
	switch {
	case at.First:
		if r.opt.duration > 0 {
			r.expired = time.After(r.opt.duration - time.Since(at.From))
		}
	case at.Last:
		r.last, r.table = at, r.totals.At(at)
	case r.failed == nil:
		r.failed = r.view.Interval(r.totals.At(at))
	}
}

// sayDoubts tells of calls whose latencies are none.
func (r *running) sayDoubts() {
	if n := r.last.Unfollowed; n > 0 {
		r.env.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", cli.Plural(int(n), "call")))
	}
	if n := r.totals.SteppedBack(); n > 0 {
		r.env.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", escapedText(r.clock.Clock), cli.Plural(n, "call")))
	}
}
