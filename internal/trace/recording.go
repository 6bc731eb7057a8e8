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
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// ErrNoSpawn: a recording starts nothing.
var ErrNoSpawn = errors.New("a recording starts no program")

// Recording tells what has happened when it was made.
type Recording struct {
	streamed
	rec     *recording.Recording
	times   *recording.Times
	stopped bool
	done    bool
}

// NewRecording returns a source of what a recording has. The plan is that of the recording, or one
// that is the same.
func NewRecording(rec *recording.Recording, plan *uprobe.Plan, opt Options) (*Recording, error) {
	times, err := rec.Times()
	if err != nil {
		return nil, err
	}
	if times.Jumped {
		opt.Warn("the clock jumped while it was recorded, as when a machine sleeps: latencies may be off by some percent, times by as long as it slept")
	}
	r := &Recording{rec: rec, times: times}
	r.streamed = streamed{plan: plan, opt: opt, inexact: !opt.Features.ExactHits, counters: rec, from: times.From, until: times.Until}
	r.clock.set(times.Base)
	return r, nil
}

// Began is when the window began.
func (r *Recording) Began() time.Time { return r.from.At }

// Arm begins to read.
func (r *Recording) Arm(_ context.Context, sink Sink) error {
	r.sink = sink
	of := &biases.Processes{Biases: biases.New(r.plan, true), Find: r.rec.Process, PIDs: r.opt.PIDs}
	if err := r.newStream(r.rec, of, sink, nil); err != nil {
		return err
	}
	if r.times.Windowed {
		r.stream.Begin(r.times.First, r.from.Ticks)
		r.stream.End(r.until.Ticks)
	}
	r.begin()
	return nil
}

// Spawn refuses.
func (r *Recording) Spawn(*Command) error { return ErrNoSpawn }

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

// streamed is what a [Live] and a [Recording] have in common: a stream of hits, and counters that
// they are to agree with.
type streamed struct {
	plan     *uprobe.Plan
	opt      Options
	inexact  bool // see parse.Counters
	clock    Clock
	sink     Sink
	stream   *parse.Stream
	counters counters
	// from and until are the ends of the window that all numbers are of.
	from, until tracefs.Mark
}

// counters are the kernel's: see [tracefs.Session].
type counters interface {
	Profile() ([][]uint64, error)
	Overruns() (uint64, error)
}

// Clock is that of the calls' stamps.
func (s *streamed) Clock() *Clock { return &s.clock }

// newStream makes the stream, whose sink may see to what the caller's does not get.
func (s *streamed) newStream(src parse.Source, of parse.Processes, sink parse.Sink, kernel *tracefs.Session) (err error) {
	opt := parse.Options{Entries: s.opt.Entries, Inside: s.opt.Inside, Limit: s.opt.Limit}
	if kernel != nil {
		opt.Kernel = kernel
	}
	s.stream, err = parse.NewStream(s.plan, src, of, sink, opt)
	return err
}

// begin says that the window begins.
func (s *streamed) begin() {
	s.sink.Reading(&Reading{First: true, From: s.from.At, At: s.from.At})
}

// reading is what was counted up to a moment that the stream has come to.
func (s *streamed) reading(at tracefs.Mark) *Reading {
	overruns, err := s.counters.Overruns()
	own := s.opt.All()
	c := s.stream.Counts(parse.Counters{From: s.from.Hits, At: at.Hits, Overruns: overruns, Own: own, Inexact: s.inexact})
	r := &Reading{From: s.from.At, At: at.At, Err: err, Counts: c, Unfollowed: c.Unfollowed}
	r.Summary = stats.Summary{
		Hits: c.Hits, Delivered: c.Delivered, Filtered: c.Filtered, Lost: c.Lost, Counted: c.CountedOnly, Unparsed: c.Unparsed,
		Probes: s.plan.Probes(), Functions: len(s.plan.Funcs), Skipped: skipped(s.opt.Skipped, s.plan.Skipped),
		Seconds:         at.At.Sub(s.from.At).Seconds(),
		Pass:            max(s.from.Width, at.Width),
		LatencyMeasured: s.plan.Mode == uprobe.Latency,
		Streamed:        s.plan.Mode != uprobe.Count,
		CountFirst:      s.plan.CountsFirst(),
		Clock:           s.clock.Clock,
	}
	if own && !s.plan.Filtered() {
		r.Before = sumCounts(s.from.Hits)
	}
	return r
}

// last is the reading of the whole window, which tells what was hit besides.
func (s *streamed) last() *Reading {
	profile, err := s.counters.Profile()
	if s.until.Hits == nil {
		s.until.Hits = profile
	}
	r := s.reading(s.until)
	r.Err = errors.Join(err, r.Err)
	if r.Last = true; s.opt.All() {
		all := sumCounts(profile)
		r.After = all - min(all, r.Before+r.Hits)
	}
	return r
}

func skipped(before []stats.Skipped, planned []uprobe.Skipped) []stats.Skipped {
	all := slices.Clone(before)
	for _, s := range planned {
		all = append(all, stats.Skipped{Function: s.Func.Name, Reason: s.Reason.Error()})
	}
	return all
}

func sumCounts(profile [][]uint64) (n uint64) {
	for _, sites := range profile {
		for _, count := range sites {
			n += count
		}
	}
	return n
}
