// Package run is one run of a command: from the arming of a source to the last line of a view.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/units"
)

// Job is a run that is to be done.
type Job struct {
	Scene
	View    View
	Source  trace.Source
	Costs   trace.Costs
	Program *trace.Command // nil if none is started
	// For is how long to go on, 0 for as long as it takes; Every how long an interval is, 0 for
	// none.
	For, Every time.Duration
	// Ready is called when the probes are armed.
	Ready func() error
	// Placed says what was placed where; of a recording there is nothing to say.
	Placed string
	// Slow is how many events take their time to remove.
	Slow int
	// CutOff is said of a result that is not all there is.
	CutOff error
	// MaxLost is how many events may be lost; nil is any number.
	MaxLost *uint64
}

// running is a run that is being done.
type running struct {
	*Job
	// expired comes when the time is up, which is counted from the window's beginning on.
	expired <-chan time.Time
	// failed is the view's first error.
	failed  error
	written bool // somebody writes to the binary
	last    *trace.Reading
	table   *trace.Table // the last
}

// Do runs a job from the arming of its source to the last line, and removes the probes whatever
// happens.
func (j *Job) Do(ctx context.Context) (err error) {
	j.Clock = j.Source.Clock()
	want := j.View.Needs()
	if want.Stacks {
		j.Stacks = trace.NewStacks(j.Target.Binary)
	}
	j.Totals = trace.NewTotals(j.Plan, trace.TotalsOptions{
		Clock: j.Clock, Costs: j.Costs, Errors: want.Errors, PerProcess: want.PerPID, Stacks: j.Stacks,
		Intervals: want.Intervals, Ended: want.Limit > 0,
	})
	r := &running{Job: j}
	if err := j.View.Begin(&j.Scene); err != nil {
		return err
	}
	defer func() {
		if r.table == nil {
			err = errors.Join(err, j.View.End(nil))
		}
	}()
	defer j.Costs.Wait()
	defer func() { err = errors.Join(err, r.close()) }()
	followed := r.follow(ctx)
	switch {
	case r.table == nil && ctx.Err() != nil && errors.Is(followed, ctx.Err()):
		return cli.BeforeItBegan(ctx)
	case r.failed != nil && !errors.Is(r.failed, ErrEnough):
		r.table = nil // the view can show nothing
		return errors.Join(r.failed, followed)
	case r.table == nil:
		return followed
	}
	r.sayDoubts()
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it, nor on anything else that has failed after measuring.
	closed := r.close()
	if err := errors.Join(j.View.End(r.table), followed, closed); err != nil {
		return err
	}
	return r.verdict()
}

// verdict is how a run ends in which nothing has failed: with the first of what else speaks
// against it, at last with PROGRAM's own status.
func (r *running) verdict() error {
	switch lost := r.table.Lost; {
	case r.CutOff != nil:
		return r.CutOff
	case r.MaxLost != nil && lost > *r.MaxLost:
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, *r.MaxLost))
	case r.written:
		return r.Target.WrittenTo()
	case r.Program != nil:
		return status(r.Program)
	}
	return nil
}

// until says when the run ends.
func (r *running) until() string {
	switch {
	case r.Program != nil:
		return "until " + r.Program.Name() + " ends"
	case r.For > 0:
		return fmt.Sprintf("for %v", r.For)
	}
	return "Ctrl-C to end"
}

// follow runs from the arming of the source to its last reading.
func (r *running) follow(ctx context.Context) error {
	stop := func() {}
	if r.Slow > 0 {
		stop = r.Env.Progress(func() string { return fmt.Sprintf("placing %d probes", r.Plan.Probes()) })
	}
	err := r.Source.Arm(ctx, r)
	stop()
	if err != nil {
		return err
	}
	if r.Placed != "" {
		r.Env.Say("%s, %s", r.Placed, r.until())
	}
	if err := r.Ready(); err != nil {
		return err
	}
	if r.Program != nil {
		if err := r.Source.Spawn(r.Program); err != nil {
			return err
		}
	}
	err = trace.Watch(ctx, r.Source, r.Program, r.Every, r.told)
	switch r.written = errors.Is(err, trace.ErrWritten); {
	case r.written, errors.Is(err, ErrEnough):
		err = nil
	}
	return errors.Join(err, r.stop())
}

// told lets the view write what was told, and tells whether to go on.
func (r *running) told() error {
	if r.failed == nil {
		r.failed = r.View.Flush()
	}
	if r.failed != nil {
		return ErrEnough
	}
	select {
	case <-r.expired:
		return ErrEnough
	default:
		return nil
	}
}

// stop ends the window, and reads what is left.
func (r *running) stop() error {
	if r.Slow > 0 {
		defer r.Env.Progress(func() string {
			return fmt.Sprintf("removing the probes, a moment for each of %s", units.Plural(r.Slow, "event"))
		})()
	}
	err := trace.Drain(r.Source, func() error { return nil })
	if r.last != nil {
		err = errors.Join(err, r.last.Err)
	}
	return err
}

// close removes the probes and ends the program.
func (r *running) close() error {
	err := r.Source.Close()
	r.Program.End()
	return err
}

// Counted, Entry, Return, Kernel, ProcessEnded and Reading take what the source tells.

func (r *running) Counted(pid, fn int) { r.Totals.Counted(pid, fn) }

func (r *running) Entry(c *parse.Call) {
	if r.failed == nil {
		r.failed = r.View.Entry(c)
	}
}

func (r *running) Return(c *parse.Call) {
	if r.Totals.Return(c); r.failed == nil {
		r.failed = r.View.Return(c)
	}
}

func (r *running) Kernel(ev *parse.KernelEvent) {
	if r.Totals.Kernel(ev); r.failed == nil {
		r.failed = r.View.Kernel(ev)
	}
}

func (r *running) ProcessEnded(pid int) {
	r.Totals.ProcessEnded(pid)
	r.View.ProcessEnded(pid)
}

func (r *running) Reading(at *trace.Reading) {
	switch {
	case at.First:
		if r.For > 0 {
			r.expired = time.After(r.For - time.Since(at.From))
		}
	case at.Last:
		r.last, r.table = at, r.Totals.At(at)
	case r.failed == nil:
		r.failed = r.View.Interval(r.Totals.At(at))
	}
}

// sayDoubts tells of calls whose latencies are none.
func (r *running) sayDoubts() {
	if n := r.last.Unfollowed; n > 0 {
		r.Env.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", units.Plural(n, "call")))
	}
	if n := r.Totals.SteppedBack(); n > 0 {
		r.Env.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", printable.Text(r.Clock.Clock), units.Plural(n, "call")))
	}
}
