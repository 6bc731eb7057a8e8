package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// tracing is one run of probe or count: from the plan to the totals.
type tracing struct {
	env     *env
	opt     *options
	view    view
	sel     *selection
	plan    *uprobe.Plan
	session *tracefs.Session
	stream  *parse.Stream
	tally   *tally
	program *program
	skipped []stats.Skipped // before there was a plan
	bias    *uprobe.Biases
	// features are what the kernel can do, or what it is to be used for.
	features tracefs.Features
	armed    time.Time
	stopped  time.Time
	onTick   func(*tracing) error // each interval
	// onCall and onEnter, if set, get each call when it ends and when it begins.
	onCall, onEnter func(*parse.Call) error
	callErr         error        // the first of theirs
	onRead          func() error // after each read, which comes 20 ms after the last at the latest
	cleanup         func()       // waits for what has been started and is to be gone at the end
	inside          map[int]bool // see parse.Stream.Inside
	calls           uint64       // so many are enough; 0 is no limit
}

// errKernelTooOld is for uprobes that may hang the target.
var errKernelTooOld = errors.New("uprobes of kernels before 4.0 can hang the traced program; --force goes on")

// follow runs a session from its start until the program, the time, the calls or the
// user's patience are at an end, and disarms it. The totals can then be asked for;
// close must be called in any case.
func (t *tracing) follow(ctx context.Context, fsys *tracefs.FS) error {
	var err error
	if t.stream, err = parse.NewStream(t.plan, func(c *parse.Call) {
		t.tally.add(c)
		t.tell(t.onCall, c)
	}); err != nil {
		return err
	}
	t.stream.Inside(t.inside)
	if t.onEnter != nil {
		t.stream.Entered(func(c *parse.Call) { t.tell(t.onEnter, c) })
	}
	t.stream.Bias = t.bias.Of
	t.stream.Keep = keep(t.opt.pids)
	stop := t.env.progress(func() string {
		return fmt.Sprintf("placing %d probes", t.plan.Probes())
	})
	t.session, err = tracefs.Start(ctx, fsys, t.plan.Target(), t.plan.TraceEvents(), tracefs.Options{
		BufferKB: t.env.bufferKB, Quiet: t.plan.Mode == uprobe.Count, Features: &t.features, Reader: t.opt.reader,
	})
	stop()
	if err != nil {
		return err
	}
	if err := t.stream.From(t.session); err != nil {
		return err
	}
	t.stream.Process = processOf(t.session, t.opt.pids)
	t.tally.base = t.session.Timebase()
	t.armed = time.Now()
	t.announce()
	if t.program != nil {
		if err := t.program.start(); err != nil {
			return err
		}
		t.bias.Learn(t.program.cmd.Process.Pid)
	}
	err = t.watch(ctx)
	defer t.env.progress(func() string {
		return fmt.Sprintf("removing the probes, a moment for each of %s", plural(len(t.plan.Events), "event"))
	})()
	t.session.Stop()
	return errors.Join(err, t.drain())
}

// tell hands a call on, until that fails.
func (t *tracing) tell(to func(*parse.Call) error, c *parse.Call) {
	if to != nil && t.callErr == nil {
		t.callErr = to(c)
	}
}

// announce tells that the probes are armed.
func (t *tracing) announce() {
	until := "Ctrl-C to end"
	switch {
	case t.program != nil:
		until = "until " + t.program.cmd.Args[0] + " ends"
	case t.opt.duration > 0:
		until = fmt.Sprintf("for %v", t.opt.duration)
	}
	t.env.say("probing %s in %s at %s, %s", plural(len(t.plan.Funcs), "function"), t.opt.binary, plural(t.plan.Probes(), "place"), until)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// errEnough ends watching for a good reason.
var errEnough = errors.New("enough")

// watch reads until there is a reason to end.
func (t *tracing) watch(ctx context.Context) error {
	if t.opt.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.opt.duration)
		defer cancel()
	}
	ends := make(<-chan struct{})
	if t.program != nil {
		ends = t.program.done
	}
	alive := time.NewTicker(200 * time.Millisecond)
	defer alive.Stop()
	tick := make(<-chan time.Time)
	if t.opt.interval > 0 {
		ticker := time.NewTicker(t.opt.interval)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		_, err := t.stream.Read(ctx)
		switch {
		case errors.Is(t.callErr, errEnough):
			return nil
		case t.callErr != nil:
			return t.callErr
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if t.onRead != nil {
			if err := t.onRead(); err != nil {
				return err
			}
		}
		if t.calls > 0 && t.seen() >= t.calls {
			return nil
		}
		select {
		case <-ends:
			return nil
		case <-ctx.Done():
			return nil
		case <-tick:
			err = t.onTick(t)
		case <-alive.C:
			err = t.checkTargets()
		default:
		}
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// seen is the number of calls so far, for -n.
func (t *tracing) seen() uint64 {
	if t.plan.Mode == uprobe.Latency {
		return t.tally.ended
	}
	var n uint64
	if t.plan.Mode == uprobe.CountRecorded {
		for _, entries := range t.stream.Books().Entries {
			n += entries
		}
		return n
	}
	profile, err := t.session.Profile()
	if err != nil {
		return 0
	}
	return sumHits(t.plan, profile, t.stream.Books()).all
}

// checkTargets ends the run when all processes of -p are gone.
func (t *tracing) checkTargets() error {
	if len(t.opt.pids) == 0 {
		return nil
	}
	for _, pid := range t.opt.pids {
		if processAlive(pid) {
			return nil
		}
	}
	if len(t.opt.pids) == 1 {
		t.env.say("process %d has ended", t.opt.pids[0])
	} else {
		t.env.say("the processes have ended")
	}
	return errEnough
}

// drain reads what is left after the probes have been told to disarm.
func (t *tracing) drain() error {
	for {
		// Not to be cancelled: it ends by itself, and the books are to balance.
		_, err := t.stream.Read(context.Background())
		if errors.Is(err, io.EOF) {
			t.stopped = time.Now()
			t.stream.Finish()
			if errors.Is(t.callErr, errEnough) {
				return nil
			}
			return t.callErr
		}
		if err != nil {
			return err
		}
	}
}

// close removes the probes and ends the program.
func (t *tracing) close() error {
	var err error
	if t.session != nil {
		err = t.session.Close()
	}
	if t.program != nil && t.program.cmd.Process != nil {
		t.program.end()
	}
	return err
}

// totals are the functions' numbers and the summary, as of now.
func (t *tracing) totals(until time.Time) ([]stats.Function, stats.Summary, error) {
	profile, err := t.session.Profile()
	if err != nil {
		return nil, stats.Summary{}, err
	}
	books := t.stream.Books()
	h := sumHits(t.plan, profile, books)
	sum := stats.Summary{
		Hits: h.all, Delivered: h.delivered, Lost: h.all - min(h.delivered, h.all),
		Unparsed: t.stream.Unparsed() + books.Unplaced,
		Probes:   t.plan.Probes(), Functions: len(t.plan.Funcs),
		Seconds:         until.Sub(t.armed).Seconds(),
		LatencyMeasured: t.plan.Mode == uprobe.Latency,
		Clock:           t.session.Timebase().Clock,
	}
	sum.Skipped = append(sum.Skipped, t.skipped...)
	for _, s := range t.plan.Skipped {
		sum.Skipped = append(sum.Skipped, stats.Skipped{Function: s.Func.Name, Reason: s.Reason.Error()})
	}
	filtered := t.plan.Filtered()
	own := len(t.opt.pids) == 0 && !filtered
	if t.plan.Mode == uprobe.Count {
		// Nothing is streamed: what the kernel has counted is all delivered.
		sum.Delivered, sum.Lost = sum.Hits, 0
		return t.tally.settle(h, books, own), sum, nil
	}
	overruns, err := t.session.Overruns()
	if err != nil {
		return nil, sum, err
	}
	switch {
	case filtered && len(t.opt.pids) == 0:
		// What the kernel's filter has dropped is counted with the hits.
		sum.Lost = overruns + sum.Unparsed
		sum.Filtered = sum.Hits - min(sum.Hits, sum.Delivered+sum.Lost)
	case !own:
		// The kernel has counted the hits of every process; what was lost of ours is
		// told by the ring buffer.
		sum.Lost = overruns
		sum.Hits = sum.Delivered + sum.Lost
	}
	// What is missing without having overrun the buffer, or being unreadable, was hit
	// between the moment that recording ends and the one that the breakpoints go.
	sum.Disarming = sum.Lost - min(sum.Lost, overruns+sum.Unparsed)
	return t.tally.settle(h, books, own), sum, nil
}

// definitions are the lines for uprobe_events, for people to read.
func (t *tracing) definitions(group string) string {
	var b strings.Builder
	for i := range t.plan.Events {
		for _, l := range t.plan.Events[i].Definitions(group, t.opt.binary) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// planFor decodes what was selected and plans the probes.
func planFor(e *env, s *selection, mode uprobe.Mode, features tracefs.Features, values planValues) (*uprobe.Plan, error) {
	var decoded atomic.Int64
	stop := e.progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(s.funcs))
	})
	plan, err := uprobe.New(s.binary, s.funcs, uprobe.Options{Mode: mode, Features: features, Points: s.points, Values: values, Decoded: &decoded})
	stop()
	if err != nil {
		return nil, err
	}
	if len(plan.Funcs) == 0 {
		first := plan.Skipped[0]
		return nil, nothing("%s: can't be probed: %v%s", first.Func.Name, first.Reason, andMore(len(plan.Skipped)-1))
	}
	return plan, nil
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; nor can %d more", n)
}

// output opens where data goes.
func (o *options) output(e *env) (w io.Writer, done func() error, err error) {
	if o.outFile == "" {
		return e.stdout, func() error { return nil }, nil
	}
	f, err := os.Create(o.outFile)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
