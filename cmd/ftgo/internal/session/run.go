package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/trace"
)

// run is what a command is to do, and how far it is.
type run struct {
	*Options
	view    view.View
	needs   view.Needs
	request engine.Request
	scene   view.Scene
	source  trace.Source
	program *trace.Command // nil if none is started
	placed  string         // what was placed where; of a recording there is nothing to say
	cutOff  error          // said of a result that is not all there is
	unseen  func() string  // says why no probe may have been hit; nil if nobody knows

	began   bool             // the window has
	expired <-chan time.Time // comes when the time is up, counted from the window's beginning on
	soon    <-chan time.Time // comes when the first interval is to end, if that is a short one
	failed  error            // the view's first error
	written bool             // somebody writes to the binary
	table   *engine.Table    // the last
}

// trace goes from the arming of the source to the last line, which out gets, and removes the probes whatever
// happens.
func (r *run) trace(ctx context.Context, out io.Writer) (err error) {
	s, costs := &r.scene, r.request.Source.Costs
	s.Env, s.Target, s.Plan, s.Out, s.Clock = r.Env, r.request.Target, r.request.Plan, out, r.source.Clock()
	want := r.needs
	if want.Stacks {
		s.Stacks = engine.NewStacks(s.Target.Binary)
	}
	want.Totals.Clock, want.Totals.Costs, want.Totals.Stacks, want.Totals.Events = s.Clock, costs, s.Stacks, s.Events
	s.Totals = engine.NewTotals(s.Plan, want.Totals)
	if err := r.view.Begin(s); err != nil {
		return err
	}
	defer costs.Wait()
	defer func() { err = errors.Join(err, r.close()) }()
	followed := r.follow(ctx)
	switch {
	case r.table == nil && ctx.Err() != nil && errors.Is(followed, ctx.Err()):
		return cli.BeforeItBegan(ctx)
	case r.failed != nil && !errors.Is(r.failed, view.ErrEnough):
		return errors.Join(r.failed, followed) // the view can show nothing
	case r.table == nil:
		return followed
	}
	r.sayDoubts()
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it, nor on anything else that has failed after measuring.
	r.sayUnseen()
	closed := r.close()
	if err := errors.Join(r.view.End(r.table), followed, closed); err != nil {
		return err
	}
	return r.verdict()
}

// verdict is how a run ends in which nothing has failed: with the first of what else speaks
// against it, at last with PROGRAM's own status.
func (r *run) verdict() error {
	switch lost := r.table.Lost; {
	case r.cutOff != nil:
		return r.cutOff
	case r.MaxLost != nil && lost > *r.MaxLost:
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, *r.MaxLost))
	case r.written:
		return r.request.Target.WrittenTo()
	case r.program != nil:
		return status(r.program)
	}
	return nil
}

// until says when the run ends.
func (r *run) until() string {
	switch {
	case r.program != nil:
		return "until " + r.program.Args[0] + " ends"
	case r.Duration > 0:
		return fmt.Sprintf("for %v", r.Duration)
	}
	return "Ctrl-C to end"
}

// follow runs from the arming of the source to its last reading.
func (r *run) follow(ctx context.Context) error {
	stop := r.Progress("placing the probes")
	err := r.source.Arm(ctx)
	stop()
	if err != nil {
		return err
	}
	if r.placed != "" {
		r.Say("%s, %s", r.placed, r.until())
	}
	if err := tellReady(r.Ready); err != nil {
		return err
	}
	if r.program != nil {
		if err := r.source.Spawn(r.program); err != nil {
			return err
		}
	}
	err = r.watch(ctx)
	if r.written = errors.Is(err, trace.ErrWritten); r.written {
		err = nil
	}
	defer r.Progress("removing the probes")()
	for it, failed := range trace.Drain(r.source) {
		if failed != nil {
			err = errors.Join(err, failed)
		} else if it.What != pairing.Read { // the view writes at its end
			err = errors.Join(err, r.takeItem(it))
		}
	}
	last, unknown := r.source.Reading()
	if last != nil {
		r.table = r.scene.Totals.At(last)
	}
	return errors.Join(err, unknown)
}

// watch goes on until there is a reason to end.
func (r *run) watch(ctx context.Context) error {
	for it, err := range trace.Watch(ctx, r.source, r.program, r.Interval) {
		if err != nil {
			return err
		}
		if err := r.takeItem(it); err != nil {
			return err
		}
		if it.What != pairing.Read {
			continue
		}
		if at, ok := r.source.Began(); ok && !r.began {
			r.begin(at)
		}
		select {
		case <-r.expired:
			return nil
		case <-r.soon:
			if err := r.source.Mark(); err != nil {
				return err
			}
		default:
		}
		if r.failed != nil {
			return nil
		}
	}
	return nil
}

// takeItem has the totals and the view take what has happened. The view's first error is noted; others are the source's.
func (r *run) takeItem(it *pairing.Item) error {
	var at *trace.Reading
	if it.What == pairing.Marked {
		var err error
		if at, err = r.source.Reading(); err != nil {
			return err
		}
	}
	r.scene.Totals.Take(it)
	switch {
	case r.failed != nil:
	case at != nil:
		r.failed = r.view.Interval(r.scene.Totals.At(at))
	default:
		r.failed = r.view.Take(it)
	}
	return nil
}

// begin takes note of when the window began.
func (r *run) begin(at time.Time) {
	r.began = true
	if r.Duration > 0 {
		r.expired = time.After(r.Duration - time.Since(at))
	}
	if r.needs.Soon {
		r.soon = time.After(firstInterval)
	}
}

// firstInterval is how long a short one is.
const firstInterval = 200 * time.Millisecond

// close removes the probes and ends the program.
func (r *run) close() error {
	defer r.Progress("removing the probes")()
	err := r.source.Close()
	r.program.End()
	return err
}

// sayUnseen has the summary say why there are no calls, if there are none.
func (r *run) sayUnseen() {
	calls := r.table.Lost + r.table.Filtered
	for i := range r.table.Whole {
		calls += r.table.Whole[i].Calls
	}
	switch {
	case calls > 0 || r.unseen == nil:
	case r.begun() > 0: // with -n, calls are those that have ended
		r.table.Unseen = printable.Plural(r.begun(), "call") + " had not ended"
	case r.table.Elsewhere > 0:
		r.table.Unseen = "other processes had " + printable.Plural(r.table.Elsewhere, "call")
	default:
		r.table.Unseen = r.unseen()
	}
}

// begun is the number of calls that have begun.
func (r *run) begun() (n uint64) {
	for i := range r.table.Counts.Funcs {
		n += r.table.Counts.Funcs[i].Calls
	}
	return n
}

// sayDoubts tells of calls whose latencies are none.
func (r *run) sayDoubts() {
	if n := r.table.Unfollowed; n > 0 {
		r.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", printable.Plural(n, "call")))
	}
	if n := r.scene.Totals.SteppedBack(); n > 0 {
		r.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", printable.Text(r.scene.Clock.Clock), printable.Plural(n, "call")))
	}
}

// findProgram makes sure that PROGRAM can be run, before any probe is set; it is nil without words. It writes to standard
// error what data must not be mixed with, if the data goes to standard output.
func (o *Options) findProgram() (*trace.Command, error) {
	if len(o.Program) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(o.Program[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", o.Program[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, o.Program[1:]...)
	cmd.Args[0] = o.Program[0]
	talk := cli.File(o.Stderr)
	if cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, talk, talk; o.File != "" {
		cmd.Stdout = o.Stdout
	}
	return trace.NewCommand(cmd), nil
}

// status is the program's exit status as a shell would give it; nil for 0 and for a
// program that was ended by us.
func status(p *trace.Command) error {
	var exit *exec.ExitError
	switch {
	case p.Err() == nil:
		return nil
	case !errors.As(p.Err(), &exit):
		return fmt.Errorf("run %s: %w", p.Path, p.Err())
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return cli.ProgramStatus(128 + int(ws.Signal()))
	}
	return cli.ProgramStatus(exit.ExitCode())
}
