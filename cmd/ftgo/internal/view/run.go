package view

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
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Job is a run that is to be done.
type Job struct {
	Scene
	View    View
	Source  trace.Source
	Costs   trace.Costs
	Program *trace.Command // nil if none is started
	For     time.Duration  // how long to go on, 0 for as long as it takes
	Every   time.Duration  // how long an interval is, 0 for none
	Ready   func() error   // called when the probes are armed
	Placed  string         // what was placed where; of a recording there is nothing to say
	CutOff  error          // said of a result that is not all there is
	Unseen  func() string  // says why no probe may have been hit; nil if nobody knows
	MaxLost *uint64        // how many events may be lost; nil is any number
	state
}

// state is how far a run is.
type state struct {
	began   bool             // the window has
	expired <-chan time.Time // comes when the time is up, counted from the window's beginning on
	soon    <-chan time.Time // comes when the first interval is to end, if that is a short one
	failed  error            // the view's first error
	written bool             // somebody writes to the binary
	table   *trace.Table     // the last
}

// Do runs a job from the arming of its source to the last line, and removes the probes whatever
// happens.
func (j *Job) Do(ctx context.Context) (err error) {
	j.Clock = j.Source.Clock()
	want := j.View.Needs()
	if want.Stacks {
		j.Stacks = trace.NewStacks(j.Target.Binary)
	}
	want.Totals.Clock, want.Totals.Costs, want.Totals.Stacks, want.Totals.Events = j.Clock, j.Costs, j.Stacks, j.Events
	j.Totals = trace.NewTotals(j.Plan, want.Totals)
	if err := j.View.Begin(&j.Scene); err != nil {
		return err
	}
	ended := false
	defer func() { // after a panic, too: the view may have a connection
		if !ended {
			err = errors.Join(err, j.View.End(nil))
		}
	}()
	defer j.Costs.Wait()
	defer func() { err = errors.Join(err, j.close()) }()
	followed := j.follow(ctx)
	switch {
	case j.table == nil && ctx.Err() != nil && errors.Is(followed, ctx.Err()):
		return cli.BeforeItBegan(ctx)
	case j.failed != nil && !errors.Is(j.failed, ErrEnough):
		return errors.Join(j.failed, followed) // the view can show nothing
	case j.table == nil:
		return followed
	}
	j.sayDoubts()
	// The table can wait for the probes to be gone, since who reads it may be slow, but does
	// not depend on it, nor on anything else that has failed after measuring.
	j.sayUnseen()
	closed := j.close()
	ended = true
	if err := errors.Join(j.View.End(j.table), followed, closed); err != nil {
		return err
	}
	return j.verdict()
}

// verdict is how a run ends in which nothing has failed: with the first of what else speaks
// against it, at last with PROGRAM's own status.
func (j *Job) verdict() error {
	switch lost := j.table.Lost; {
	case j.CutOff != nil:
		return j.CutOff
	case j.MaxLost != nil && lost > *j.MaxLost:
		return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, *j.MaxLost))
	case j.written:
		return j.Target.WrittenTo()
	case j.Program != nil:
		return status(j.Program)
	}
	return nil
}

// until says when the run ends.
func (j *Job) until() string {
	switch {
	case j.Program != nil:
		return "until " + j.Program.Args[0] + " ends"
	case j.For > 0:
		return fmt.Sprintf("for %v", j.For)
	}
	return "Ctrl-C to end"
}

// follow runs from the arming of the source to its last reading.
func (j *Job) follow(ctx context.Context) error {
	stop := j.Env.Progress("placing the probes")
	err := j.Source.Arm(ctx)
	stop()
	if err != nil {
		return err
	}
	if j.Placed != "" {
		j.Env.Say("%s, %s", j.Placed, j.until())
	}
	if err := j.Ready(); err != nil {
		return err
	}
	if j.Program != nil {
		if err := j.Source.Spawn(j.Program); err != nil {
			return err
		}
	}
	err = j.watch(ctx)
	if j.written = errors.Is(err, trace.ErrWritten); j.written {
		err = nil
	}
	defer j.Env.Progress("removing the probes")()
	for it, failed := range trace.Drain(j.Source) {
		if failed != nil {
			err = errors.Join(err, failed)
		} else if it.What != pairing.Read { // the view writes at its end
			err = errors.Join(err, j.take(it))
		}
	}
	last, unknown := j.Source.Reading()
	if last != nil {
		j.table = j.Totals.At(last)
	}
	return errors.Join(err, unknown)
}

// watch goes on until there is a reason to end.
func (j *Job) watch(ctx context.Context) error {
	for it, err := range trace.Watch(ctx, j.Source, j.Program, j.Every) {
		if err != nil {
			return err
		}
		if err := j.take(it); err != nil {
			return err
		}
		if it.What != pairing.Read {
			continue
		}
		if at, ok := j.Source.Began(); ok && !j.began {
			j.begin(at)
		}
		select {
		case <-j.expired:
			return nil
		case <-j.soon:
			if err := j.Source.Mark(); err != nil {
				return err
			}
		default:
		}
		if j.failed != nil {
			return nil
		}
	}
	return nil
}

// take has the totals and the view take what has happened. The view's first error is noted; others are the source's.
func (j *Job) take(it *pairing.Item) error {
	var at *trace.Reading
	if it.What == pairing.Marked {
		var err error
		if at, err = j.Source.Reading(); err != nil {
			return err
		}
	}
	j.Totals.Take(it)
	switch {
	case j.failed != nil:
	case at != nil:
		j.failed = j.View.Interval(j.Totals.At(at))
	default:
		j.failed = j.View.Take(it)
	}
	return nil
}

// begin takes note of when the window began.
func (j *Job) begin(at time.Time) {
	j.began = true
	if j.For > 0 {
		j.expired = time.After(j.For - time.Since(at))
	}
	if j.View.Needs().Soon {
		j.soon = time.After(firstInterval)
	}
}

// firstInterval is how long a short one is.
const firstInterval = 200 * time.Millisecond

// close removes the probes and ends the program.
func (j *Job) close() error {
	defer j.Env.Progress("removing the probes")()
	err := j.Source.Close()
	j.Program.End()
	return err
}

// sayUnseen has the summary say why there are no calls, if there are none.
func (j *Job) sayUnseen() {
	calls := j.table.Lost + j.table.Filtered
	for i := range j.table.Whole {
		calls += j.table.Whole[i].Calls
	}
	switch {
	case calls > 0 || j.Unseen == nil:
	case j.begun() > 0: // with -n, calls are those that have ended
		j.table.Unseen = printable.Plural(j.begun(), "call") + " had not ended"
	case j.table.Elsewhere > 0:
		j.table.Unseen = "other processes had " + printable.Plural(j.table.Elsewhere, "call")
	default:
		j.table.Unseen = j.Unseen()
	}
}

// begun is the number of calls that have begun.
func (j *Job) begun() (n uint64) {
	for i := range j.table.Counts.Funcs {
		n += j.table.Counts.Funcs[i].Calls
	}
	return n
}

// sayDoubts tells of calls whose latencies are none.
func (j *Job) sayDoubts() {
	if n := j.table.Unfollowed; n > 0 {
		j.Env.Warn(fmt.Sprintf("%s not followed to the end, and counted as lost: too many others were open when they began", printable.Plural(n, "call")))
	}
	if n := j.Totals.SteppedBack(); n > 0 {
		j.Env.Warn(fmt.Sprintf("the trace clock %s went back during %s, whose latency is shown as 0", printable.Text(j.Clock.Clock), printable.Plural(n, "call")))
	}
}

// FindProgram makes sure that a program can be run, before any probe is set; without words there
// is none. It writes to standard error what data must not be mixed with, if the data goes there.
func FindProgram(e *cli.Env, words []string, mixed bool) (*trace.Command, error) {
	if len(words) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], errors.Unwrap(err))
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Args[0] = words[0]
	talk := terminal.File(e.Stderr)
	if cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, talk, talk; !mixed {
		cmd.Stdout = e.Stdout
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

// View is what a command makes of what a source tells: tables, or lines. An error ends the run,
// ErrEnough ends it well.
type View interface {
	// Needs depends on flags alone.
	Needs() Needs
	// Values tells what to fetch of calls; nil is nothing.
	Values(*target.Target, tracefs.Features) (engine.Values, error)
	// Begin comes when all is ready to start.
	Begin(*Scene) error
	// Take takes what has happened; at [pairing.Read], 50 times a second, it is time to write.
	Take(*pairing.Item) error
	// Interval comes at its place among the calls.
	Interval(*trace.Table) error
	// End comes last, once Begin has come: with nil if nothing was measured.
	End(*trace.Table) error
}

// Needs are what a view wants of a source.
type Needs struct {
	Mode                  uprobe.Mode // how calls are seen
	Entries, Steady, Once bool        // those of [trace.Options]
	Limit                 uint64      // and this, too
	Totals                trace.TotalsOptions
	Stacks                bool // the table adds up calls by their callers
	Inside                bool // calls are marked that functions with that role make
	Follow                bool // goroutines are told that calls start
	Memory                bool // the view is nothing without what is fetched from memory
	Soon                  bool // the first interval is a short one: somebody waits for the numbers
}

// Scene is what a view sees of a run before it begins.
type Scene struct {
	Env      *cli.Env
	Target   *target.Target
	Plan     *uprobe.Plan
	Out      io.Writer // gets data
	Clock    *trace.Clock
	Totals   *trace.Totals
	Stacks   *trace.Stacks // those of Needs.Stacks
	Events   []string      // the names of the kernel's that are told
	Recorded time.Time     // when the window of a recording began; it is zero for what is live
}

// Ignore is a view that does nothing with what it does not need.
type Ignore struct{}

func (Ignore) Take(*pairing.Item) error    { return nil }
func (Ignore) Interval(*trace.Table) error { return nil }

func (Ignore) Values(*target.Target, tracefs.Features) (engine.Values, error) { return nil, nil }

// ErrEnough ends a run for a good reason.
var ErrEnough = errors.New("enough")
