package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// tracing is one run of a command, live or from a recording: from the plan to the totals.
type tracing struct {
	env     *env
	opt     *options
	view    view
	sel     *target.Target
	plan    *uprobe.Plan
	session *tracefs.Session
	counts  counts // the session's, or a recording's
	stream  *parse.Stream
	tally   *tally
	program *program
	skipped []stats.Skipped // before there was a plan
	bias    *uprobe.Biases
	// features are what the kernel can do, or what it is to be used for.
	features tracefs.Features
	// present is how the trace clock's stamps relate to the system's clock by now. It is the
	// tally's, too, unless that is pinned to what was known at first: lines that are made of a
	// call's begin and of its end are to agree, and those of a tree to lie within each other.
	present tracefs.Timebase
	pinned  bool
	// from and until are the ends of the window that all numbers are of.
	from, until tracefs.Mark
	// onTick is told of the end of each interval, at its place among the calls.
	onTick func(*tracing, tracefs.Mark) error
	// onCall and onEnter, if set, get each call when it ends and when it begins.
	onCall, onEnter func(*parse.Call) error
	callErr         error        // the first of theirs
	onRead          func() error // after each read, which comes 20 ms after the last at the latest
	cleanup         func()       // puts back what was changed for as long as it runs
	inside          map[int]bool // see parse.Options
	calls           uint64       // so many are enough; 0 is no limit
	// kernel are the kernel events of --with, nil without it; onKernel, if set, gets each.
	kernel   *kernelEvents
	onKernel func(*parse.KernelEvent) error
	timer    *timer // nil unless calls are counted first
	cpu      *cpuTimes
	ended    ended
	replaced replaced
	vanished *vanished
	paused   bool          // the probes are out for a while
	written  bool          // somebody writes to the binary
	onEnded  func(pid int) // when a process has ended, and all of its events were read
}

// follow runs a session from its start until the program, the time, the calls or the
// user's patience are at an end, and disarms it. The totals can then be asked for;
// close must be called in any case.
func (t *tracing) follow(ctx context.Context, fsys *tracefs.FS) error {
	err := t.kernel.start(t, fsys)
	if err != nil {
		return err
	}
	stop := t.env.Progress(func() string {
		return fmt.Sprintf("placing %d probes", t.plan.Probes())
	})
	t.session, err = tracefs.Start(ctx, fsys, t.plan.Target(), t.plan.TraceEvents(), tracefs.Options{
		BufferKB: t.env.bufferKB, Quiet: t.plan.Mode == uprobe.Count, Features: &t.features, Reader: t.opt.reader, TopLevel: t.opt.force,
	})
	stop()
	if err != nil {
		return err
	}
	t.counts = t.session
	if err := t.newStream(t.session, processOf(t.session, t.opt)); err != nil {
		return err
	}
	if t.from, err = t.mark(); err != nil {
		return err
	}
	t.stream.Begin(t.session.Began(), t.from.Ticks)
	t.cpu = newCPUTimes(t.program, t.opt)
	t.vanished = newVanished(t.plan.TraceEvents(), t.sel.Binary.Inode())
	t.announce()
	t.timer = newTimer(ctx, t)
	if err := t.opt.auto.ready.tell(); err != nil {
		return err
	}
	if t.program != nil {
		if err := t.kernel.run(t.program); err != nil {
			return err
		}
		t.bias.Learn(t.program.cmd.Process.Pid)
	}
	// It may have to wait, and the program need not.
	if t.tally.base, err = t.session.Timebase(); err != nil {
		return err
	}
	t.present = t.tally.base
	if err := t.sayCoarse(); err != nil {
		return err
	}
	t.tally.costs.begin(ctx, fsys)
	t.timer.start()
	err = errors.Join(t.watch(ctx), t.end())
	t.cpu.stop()
	t.tally.costs.stop()
	t.timer.end()
	t.noticeVanished(inspection)
	defer t.env.Progress(func() string {
		return fmt.Sprintf("removing the probes, a moment for each of %s", cli.Plural(len(t.plan.Events), "event"))
	})()
	t.session.Stop()
	return errors.Join(err, t.drain())
}

// manySites is from how many on reading the counters takes more than some milliseconds: the
// time grows with the square, and is seconds for 50,000.
const manySites = 5000

// mark is a moment of the run. The counters of many sites are read only where calls depend on
// them: the kernel does not tell processes apart.
func (t *tracing) mark() (tracefs.Mark, error) {
	if t.opt.restricted() && t.plan.Probes() > manySites {
		return t.session.Now()
	}
	return t.session.Mark()
}

// end ends the window, while all probes are still in place: what is hit as they go one
// after the other, and the program gains speed, is of no window.
func (t *tracing) end() (err error) {
	if t.until, err = t.mark(); err != nil {
		t.until.At = time.Now()
		return err
	}
	if at, ok := t.stream.Ended(); ok {
		t.until.Ticks, t.until.At = at, t.present.Wall(at)
	}
	t.stream.End(t.until.Ticks)
	return nil
}

// tell hands a call on, until that fails.
func (t *tracing) tell(to func(*parse.Call) error, c *parse.Call) {
	if to != nil && t.callErr == nil {
		t.callErr = to(c)
	}
}

// announce tells that the probes are armed.
func (t *tracing) announce() {
	t.noticeReplaced()
	t.env.Say("probing %s in %s at %s, %s", cli.Plural(len(t.plan.Funcs), "function"), t.opt.binary, cli.Plural(t.plan.Probes(), "place"), t.opt.until())
}

// errEnough ends watching for a good reason.
var errEnough = errors.New("enough")

// watch reads until there is a reason to end.
func (t *tracing) watch(ctx context.Context) error {
	var expired <-chan time.Time
	waiting := t.opt.auto.wait && !target.Executed(t.opt.binary)
	if t.opt.duration > 0 && !waiting {
		expired = time.After(t.opt.duration - time.Since(t.from.At))
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
	// Nothing that is read is waited for when the program has ended.
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.program.atEnd(cancel)()
	for {
		n, err := t.stream.Read(reading)
		t.ended.read(n)
		switch {
		case errors.Is(t.callErr, errEnough):
			return nil
		case t.callErr != nil:
			return t.callErr
		case err != nil && reading.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if t.written = t.sel.Binary.Written(); t.written {
			return nil
		}
		if t.onRead != nil {
			if err := t.onRead(); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if err := t.timer.step(); err != nil {
			return err
		}
		if _, full := t.stream.Ended(); full {
			return nil
		}
		select {
		case <-ends:
			return nil
		case <-ctx.Done():
			return nil
		case <-expired:
			return nil
		case <-tick:
			err = t.tick()
		case <-alive.C:
			if waiting && (target.Executed(t.opt.binary) || t.hit()) { // it may have come and gone
				waiting = false
				if t.opt.duration > 0 {
					expired = time.After(t.opt.duration)
				}
			}
			if waiting {
				t.from.At = time.Now() // nobody ran it until now
			}
			if base, err := t.session.Timebase(); err == nil { // else the last one will do
				t.present = base
				if !t.pinned {
					t.tally.base = base
				}
			}
			t.cpu.look()
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

// hit tells whether any probe was hit since the window began.
func (t *tracing) hit() bool {
	profile, err := t.session.Profile()
	return err == nil && sumCounts(profile) > sumCounts(t.from.Hits)
}

// tick ends an interval where its calls end in the stream.
func (t *tracing) tick() error {
	now, err := t.mark()
	if err != nil {
		return err
	}
	t.stream.Mark(now.Ticks, func() {
		if t.callErr == nil {
			t.callErr = t.onTick(t, now)
		}
	})
	return nil
}

// drain reads what is left after the probes have been told to disarm.
func (t *tracing) drain() error {
	for {
		// Not to be cancelled: it ends by itself, and the books are to balance.
		_, err := t.stream.Read(context.Background())
		if errors.Is(err, io.EOF) {
			if err := t.kernel.stop(); err != nil {
				return err
			}
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
	// First: where few files may be open, two who remove probes take them from each other.
	t.tally.costs.end()
	var err error
	if t.session != nil {
		err = t.session.Close()
	}
	t.sel.Binary.Release()
	err = errors.Join(err, t.kernel.close())
	if t.program != nil && t.program.cmd.Process != nil {
		t.program.end()
	}
	return err
}

// definitions are the lines for uprobe_events, for people to read.
func (t *tracing) definitions(group string) string {
	var b strings.Builder
	for i := range t.plan.Events {
		for _, l := range t.plan.Events[i].Definitions(group, render.Escape(t.opt.binary)) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// planFor decodes what was selected and plans the probes, with what opt has of its own.
func planFor(e *env, s *target.Target, opt uprobe.Options) (*uprobe.Plan, error) {
	var decoded atomic.Int64
	stop := e.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(s.Funcs))
	})
	opt.Points, opt.Decoded = s.Sites, &decoded
	plan, err := uprobe.New(s.Binary, s.Funcs, opt)
	stop()
	if err != nil {
		return nil, schedStatus(err)
	}
	if len(plan.Funcs) == 0 {
		first := plan.Skipped[0]
		return nil, cli.Nothing("%s: can't be probed: %v%s", first.Func.Name, first.Reason, andMore(len(plan.Skipped)-1))
	}
	return plan, nil
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; nor can %d more", n)
}
