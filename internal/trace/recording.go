package trace

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/biases"
	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// ErrNoSpawn: a recording starts nothing.
var ErrNoSpawn = errors.New("a recording starts no program")

// Recording tells what has happened when it was made.
type Recording struct {
	streamed
	rec     *recording.Recording
	times   *recording.Times
	opt     Options
	sink    Sink
	stopped bool
	done    bool
}

// NewRecording returns a source of what a recording has. The plan is that of the recording, or one
// that is the same.
func NewRecording(rec *recording.Recording, plan *uprobe.Plan, opt Options) (*Recording, error) {
	r := &Recording{rec: rec, opt: opt}
	times, err := rec.Times()
	if err != nil {
		return nil, err
	}
	if times.Jumped {
		opt.Warn("the clock jumped while it was recorded, as when a machine sleeps: latencies may be off by some percent, times by as long as it slept")
	}
	r.streamed = streamed{plan: plan, filter: &r.opt.Filter, skipped: opt.Skipped, inexact: !opt.Features.ExactHits, counters: rec}
	r.clock.set(times.Base)
	r.times, r.from, r.until = times, times.From, times.Until
	return r, nil
}

// Began is when the window began.
func (r *Recording) Began() time.Time { return r.from.At }

// Arm begins to read.
func (r *Recording) Arm(_ context.Context, sink Sink) (err error) {
	r.sink = sink
	of := &recordedProcesses{r.rec, r.opt.PIDs, biases.New(r.plan, true)}
	opt := parse.Options{Entries: r.opt.Entries, Inside: r.opt.Inside, Limit: r.opt.Limit}
	if r.stream, err = parse.NewStream(r.plan, r.rec, of, sink, opt); err != nil {
		return err
	}
	if r.times.Windowed {
		r.stream.Begin(r.times.First, r.from.Ticks)
		r.stream.End(r.until.Ticks)
	}
	sink.Reading(&Reading{First: true, From: r.from.At, At: r.from.At})
	return nil
}

// Spawn refuses.
func (r *Recording) Spawn(Program) error { return ErrNoSpawn }

// Mark does nothing: the intervals of a recording are over.
func (r *Recording) Mark() error { return nil }

// Read tells what is read next. After Stop it is no more than the last reading.
func (r *Recording) Read(ctx context.Context) error {
	if r.done {
		return io.EOF
	}
	if !r.stopped {
		if _, err := r.stream.Read(ctx); !errors.Is(err, io.EOF) {
			return err
		}
	}
	r.done = true
	r.stream.Finish()
	last := r.last()
	last.AsSeen = last.LatencyMeasured
	r.sink.Reading(last)
	return io.EOF
}

// Stop ends reading.
func (r *Recording) Stop() error {
	r.stopped = true
	return nil
}

// Close has nothing to remove.
func (r *Recording) Close() error { return nil }

// recordedProcesses are of another time or machine.
type recordedProcesses struct {
	rec  *recording.Recording
	pids []int
	bias *biases.Biases
}

func (p *recordedProcesses) Of(tid, printed int) int { return p.rec.Process(tid, printed) }

func (p *recordedProcesses) Wanted(_, pid int) (int, bool) {
	return pid, len(p.pids) == 0 || slices.Contains(p.pids, pid)
}

func (p *recordedProcesses) Bias(pid int, addr uint64) (uint64, bool) { return p.bias.Of(pid, addr) }
