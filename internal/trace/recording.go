package trace

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Recording is a [Source] that reads a recording.
type Recording struct {
	window
	rec     *recording.Recording
	stopped bool
	done    bool
}

// NewRecording returns a source that reads a recording. plan is the recording's plan or an equal one.
func NewRecording(rec *recording.Recording, plan *uprobe.Plan, opt Options) (*Recording, error) {
	base, jumped, err := rec.Timebase()
	if err != nil {
		return nil, err
	}
	if jumped {
		opt.Warn("the clock jumped during the recording, perhaps because the machine slept: latencies may be off by some percent, times by the length of the sleep")
	}
	r := &Recording{window: window{plan: plan, opt: opt, host: rec.Facts["host"], counters: rec}, rec: rec}
	r.clock.update(base)
	of := func(tid, printed int) (pid int, selected bool) {
		pid = rec.Process(tid, printed)
		return pid, len(opt.PIDs) == 0 || slices.Contains(opt.PIDs, pid)
	}
	if err := r.newStream(rec, of); err != nil {
		return nil, err
	}
	var first uint64
	if first, r.from, r.until = rec.Window(base); r.until.Hits != nil { // else the recording has no window
		r.stream.Begin(first, r.from.Ticks)
		r.stream.End(r.until.Ticks)
	}
	return r, nil
}

func (r *Recording) Arm(context.Context) error { return nil }

func (r *Recording) Spawn(*Command) error { return errors.New("a recording starts no program") }

// Mark does nothing: a recording has no intervals.
func (r *Recording) Mark() error { return nil }

// Read yields the next items. After Stop it yields only the calls that are still open.
func (r *Recording) Read(ctx context.Context) iter.Seq2[*pairing.Item, error] {
	if !r.stopped {
		return r.stream.Read(ctx)
	}
	return func(yield func(*pairing.Item, error) bool) {
		r.done = true
		for it := range r.stream.Finish() {
			if !yield(it, nil) {
				return
			}
		}
		yield(nil, io.EOF)
	}
}

// Reading returns the counts of the whole window, and nil before its end.
func (r *Recording) Reading() (*Reading, error) {
	if !r.done {
		return nil, nil
	}
	last, err := r.last()
	last.RawLatencies = last.LatencyMeasured
	return last, err
}

func (r *Recording) Stop() error {
	r.stopped = true
	return nil
}

func (r *Recording) Close() error { return nil }
