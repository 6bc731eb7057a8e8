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

// run is a command's plan, and the state of its execution.
type run struct {
	*Options
	view       view.View
	needs      view.Needs
	request    engine.Request
	scene      view.Scene
	source     trace.Source
	program    *trace.Command // nil if ftgo starts none
	placement  string         // a message about the placed probes; "" for a recording
	incomplete error          // the error of an incomplete recording

	viewErr error         // the view's first error
	written bool          // a process writes to the binary
	table   *engine.Table // the last table, nil before the end
}

// trace arms the source, reads it to its end, and removes the probes in any case. Data goes to out.
func (r *run) trace(ctx context.Context, out io.Writer) (err error) {
	s, costs := &r.scene, r.request.Source.Costs
	s.Env, s.Target, s.Plan, s.Out, s.Clock = r.Env, r.request.Target, r.request.Plan, out, r.source.Clock()
	needs := r.needs
	if needs.Stacks {
		s.Stacks = engine.NewStacks(s.Target.Binary)
	}
	needs.Totals.Clock, needs.Totals.Costs, needs.Totals.Stacks, needs.Totals.Events = s.Clock, costs, s.Stacks, s.Events
	s.Totals = engine.NewTotals(s.Plan, needs.Totals)
	if err := r.view.Begin(s); err != nil {
		return err
	}
	defer costs.Wait()
	defer func() { err = errors.Join(err, r.close()) }()
	followed := r.follow(ctx)
	switch {
	case r.table == nil && ctx.Err() != nil && errors.Is(followed, ctx.Err()):
		return cli.EndedBeforeStart(ctx)
	case r.viewErr != nil && !errors.Is(r.viewErr, view.ErrEnough):
		return errors.Join(r.viewErr, followed) // the view could not write
	case r.table == nil:
		return followed
	}
	r.warnDoubts()
	// The probes are removed first, because a slow reader of the table would keep them in the kernel. The table is
	// written even if that or something else after the measurement fails.
	r.explainNoCalls()
	closed := r.close()
	if err := errors.Join(r.view.End(r.table), followed, closed); err != nil {
		return err
	}
	return r.exitError()
}

// exitError returns the error of a run in which nothing failed: the first of an incomplete recording, too many lost
// events, a binary being written to, and PROGRAM's exit status.
func (r *run) exitError() error {
	switch lost := r.table.Lost; {
	case r.incomplete != nil:
		return r.incomplete
	case r.MaxLost != nil && lost > *r.MaxLost:
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, *r.MaxLost))
	case r.written:
		return r.request.Target.WrittenTo()
	case r.program != nil:
		return programStatus(r.program)
	}
	return nil
}

func (r *run) until() string {
	switch {
	case r.program != nil:
		return "until " + r.program.Args[0] + " ends"
	case r.Duration > 0:
		return fmt.Sprintf("for %v", r.Duration)
	}
	return "Ctrl-C to end"
}

// follow arms the source, and reads it to its end.
func (r *run) follow(ctx context.Context) error {
	stop := r.Progress("placing the probes")
	err := r.source.Arm(ctx)
	stop()
	if err != nil {
		return err
	}
	if r.placement != "" {
		r.Say("%s, %s", r.placement, r.until())
	}
	if err := writeReady(r.Ready); err != nil {
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
		} else if it.Kind != pairing.Read { // Read makes the view refresh, and now the end of the view writes everything
			err = errors.Join(err, r.takeItem(it))
		}
	}
	last, unknown := r.source.Reading()
	if last != nil {
		r.table = r.scene.Totals.At(last)
	}
	return errors.Join(err, unknown)
}

// watch reads the source until a reason to end.
func (r *run) watch(ctx context.Context) error {
	var expired, first <-chan time.Time
	began := false // the window has begun
	for it, err := range trace.Watch(ctx, r.source, r.program, r.Interval) {
		if err != nil {
			return err
		}
		if err := r.takeItem(it); err != nil {
			return err
		}
		if it.Kind != pairing.Read {
			continue
		}
		if at, ok := r.source.Began(); ok && !began {
			began = true
			if r.Duration > 0 {
				expired = time.After(r.Duration - time.Since(at))
			}
			if r.needs.Soon {
				first = time.After(firstInterval)
			}
		}
		select {
		case <-expired:
			return nil
		case <-first:
			if err := r.source.Mark(); err != nil {
				return err
			}
		default:
		}
		if r.viewErr != nil {
			return nil
		}
	}
	return nil
}

// takeItem passes an item to the totals and the view. It stores the view's first error in r.viewErr; the error that
// it returns is the source's.
func (r *run) takeItem(it *pairing.Item) error {
	var at *trace.Reading
	if it.Kind == pairing.Marked {
		var err error
		if at, err = r.source.Reading(); err != nil {
			return err
		}
	}
	r.scene.Totals.Take(it)
	switch {
	case r.viewErr != nil:
	case at != nil:
		r.viewErr = r.view.Interval(r.scene.Totals.At(at))
	default:
		r.viewErr = r.view.Take(it)
	}
	return nil
}

// firstInterval is the length of a short first interval. It counts from the beginning of the window, like -d.
const firstInterval = 200 * time.Millisecond

// close removes the probes and ends PROGRAM.
func (r *run) close() error {
	defer r.Progress("removing the probes")()
	err := r.source.Close()
	r.program.End()
	return err
}

// explainNoCalls sets the summary's reason if no call was seen.
func (r *run) explainNoCalls() {
	calls, started := r.table.Lost+r.table.Filtered, uint64(0)
	for i := range r.table.Whole {
		calls += r.table.Whole[i].Calls
	}
	for i := range r.table.Counts.Funcs {
		started += r.table.Counts.Funcs[i].Calls
	}
	switch {
	case calls > 0 || r.isReport: // the reasons below come from running processes, and those of a recording may have ended
	case started > 0: // with -n only ended calls count
		r.table.NoCallsReason = printable.Plural(started, "call") + " had not ended"
	case r.table.Elsewhere > 0:
		r.table.NoCallsReason = "other processes had " + printable.Plural(r.table.Elsewhere, "call")
	default:
		path := ""
		if r.program != nil {
			path = r.program.Path
		}
		r.table.NoCallsReason = r.WhyUnseen(path, r.Fork)
	}
}

// warnDoubts warns about calls that could not be followed, and about wrong latencies.
func (r *run) warnDoubts() {
	if n := r.table.Counts.Unfollowed; n > 0 {
		r.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", printable.Plural(n, "call")))
	}
	if n := r.scene.Totals.SteppedBack; n > 0 {
		r.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", printable.Text(r.scene.Clock.Clock), printable.Plural(n, "call")))
	}
}

// newProgram returns PROGRAM, nil without one. It is an error if PROGRAM can't be executed, so that no probe
// is placed for nothing. PROGRAM's output goes to standard error, unless -w keeps the data apart from it.
func (o *Options) newProgram() (*trace.Command, error) {
	if len(o.Program) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(o.Program[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", o.Program[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, o.Program[1:]...)
	cmd.Args[0] = o.Program[0]
	stderr := cli.Unwrap(o.Stderr)
	if cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stderr, stderr; o.File != "" {
		cmd.Stdout = o.Stdout
	}
	return trace.NewCommand(cmd), nil
}

// programStatus returns PROGRAM's exit status as a shell gives it; nil for 0 and if ftgo ended PROGRAM.
func programStatus(p *trace.Command) error {
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

// backgroundRun is a run in a goroutine of its own. A command may have several such runs at once.
type backgroundRun struct {
	cancel   context.CancelFunc
	canceled func() bool    // reports whether cancel was called or the parent context ended
	done     chan struct{}  // closed after onEnd has returned
	err      error          // the run's error; valid in onEnd, and once done is closed
	panicked trace.Panicked // the run's panic; valid like err
}

// startInBackground runs a view in a new goroutine. It changes o, and no other run may use o. The run writes its messages
// to stderr. When the run has returned or panicked, its goroutine calls onEnd.
func (o *Options) startInBackground(ctx context.Context, v view.View, stderr io.Writer, onEnd func(*backgroundRun)) *backgroundRun {
	o.Env = o.Env.ForBackground(stderr)
	ctx, cancel := context.WithCancel(ctx)
	r := &backgroundRun{cancel: cancel, canceled: func() bool { return ctx.Err() != nil }, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer onEnd(r)
		defer r.panicked.Catch()
		r.err = o.Observe(ctx, v)
		o.RemoveHeld()
	}()
	return r
}
