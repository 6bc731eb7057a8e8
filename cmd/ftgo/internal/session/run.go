package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

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

	last *trace.Reading // of the whole window; nil before its end
}

// trace arms the source, reads it to its end, and removes the probes in any case. Data goes to out.
func (r *run) trace(ctx context.Context, out io.Writer) (err error) {
	s, costs := &r.scene, r.request.Source.Costs
	s.Env, s.Target, s.Plan, s.Out, s.Clock = r.Env, r.request.Target, r.request.Plan, out, r.source.Clock()
	if r.needs.Stacks {
		s.Stacks = engine.NewStacks(s.Target.Binary)
	}
	s.Totals = &r.needs.Totals
	s.Totals.Clock, s.Totals.Costs, s.Totals.Stacks, s.Totals.Events = s.Clock, costs, s.Stacks, s.Events
	s.Totals.Begin(s.Plan)
	if err := r.view.Begin(s); err != nil {
		return err
	}
	defer costs.Wait()
	defer func() { err = errors.Join(err, r.close()) }()
	viewed, followed := r.follow(ctx)
	switch {
	case r.last == nil && ctx.Err() != nil && errors.Is(followed, ctx.Err()):
		return cli.EndedBeforeStart(ctx)
	case viewed != nil && !errors.Is(viewed, view.ErrEnough):
		return errors.Join(viewed, followed) // the view could not write
	case r.last == nil:
		return followed
	}
	r.warnDoubts()
	// The probes are removed first, because a slow reader of the table would keep them in the kernel. The table is
	// written even if that or something else after the measurement fails.
	r.explainNoCalls()
	closed := r.close()
	if err := errors.Join(r.view.End(r.last), followed, closed); err != nil {
		return err
	}
	return r.exitError()
}

// exitError returns the error of a run in which nothing failed: the first of an incomplete recording, too many lost
// events, a binary being written to, and PROGRAM's exit status.
func (r *run) exitError() error {
	switch lost := r.last.Lost; {
	case r.incomplete != nil:
		return r.incomplete
	case r.MaxLost != nil && lost > *r.MaxLost:
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, *r.MaxLost))
	case r.last.Written:
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

// follow arms the source, and passes its items to the totals and the view until the window ends. It returns the first
// errors of the view and of the source. After an error of the view the totals go on to the end of the window.
func (r *run) follow(ctx context.Context) (viewed, err error) {
	if err := r.source.Arm(ctx); err != nil {
		return nil, err
	}
	if r.placement != "" {
		r.Say("%s, %s", r.placement, r.until())
	}
	if err := writeReady(r.Ready); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for it, failed := range trace.Run(ctx, r.source, r.program, r.Limits) {
		if failed != nil {
			err = errors.Join(err, failed)
			break
		}
		var at *trace.Reading
		if it.Kind == pairing.Marked {
			if at, failed = r.source.Reading(); failed != nil {
				err = errors.Join(err, failed)
				stop()
			}
		}
		r.scene.Totals.Take(it)
		switch {
		case viewed != nil, failed != nil:
		case at != nil:
			r.scene.Totals.At(at)
			viewed = r.view.Interval(at)
		default:
			viewed = r.view.Take(it)
		}
		if viewed != nil {
			stop()
		}
	}
	last, unknown := r.source.Reading()
	if last != nil {
		r.scene.Totals.At(last)
		r.last = last
	}
	return viewed, errors.Join(err, unknown)
}

// close removes the probes and ends PROGRAM.
func (r *run) close() error {
	err := r.source.Close()
	r.program.End()
	return err
}

// explainNoCalls sets the summary's reason if no call was seen.
func (r *run) explainNoCalls() {
	calls, started := r.last.Lost+r.last.Filtered, uint64(0)
	for i := range r.last.Whole {
		calls += r.last.Whole[i].Calls
	}
	for i := range r.last.Counts.Funcs {
		started += r.last.Counts.Funcs[i].Calls
	}
	switch {
	case calls > 0 || r.isReport: // the reasons below come from running processes, and those of a recording may have ended
	case started > 0: // with -n only ended calls count
		r.last.NoCallsReason = printable.Plural(started, "call") + " had not ended"
	case r.last.Elsewhere > 0:
		r.last.NoCallsReason = "other processes had " + printable.Plural(r.last.Elsewhere, "call")
	default:
		path := ""
		if r.program != nil {
			path = r.program.Path
		}
		r.last.NoCallsReason = r.WhyUnseen(path, r.Fork)
	}
}

// warnDoubts warns about calls that could not be followed, and about wrong latencies.
func (r *run) warnDoubts() {
	if n := r.last.Counts.Unfollowed; n > 0 {
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
	if cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, o.Stderr, o.Stderr; o.File != "" {
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
