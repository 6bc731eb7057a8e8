// Package trace implements the sources of calls: running processes, and recordings.
package trace

import (
	"context"
	"errors"
	"io"
	"iter"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Source yields the calls of a plan's functions. One goroutine calls Arm, then Spawn at most once, Read and Mark, Stop,
// Read until io.EOF, and Reading. Close must always be called.
type Source interface {
	// Clock returns the clock of the calls' times.
	Clock() *Clock
	// Arm makes the source ready for Read: Live places its probes. After an error only Close may be called.
	Arm(ctx context.Context) error
	// Began returns when the window of an armed source began.
	Began() time.Time
	// Spawn starts a program. All its hits are seen.
	Spawn(p *Command) error
	// Read yields the items of about 20 ms, then [pairing.Read]. It yields an error when no more items come: io.EOF if
	// all were read.
	Read(ctx context.Context) iter.Seq2[*pairing.Item, error]
	// Mark ends an interval now. Read yields [pairing.Marked] behind the items of the interval.
	Mark() error
	// Reading returns the counts up to a [pairing.Marked] that Read has just yielded, or of the whole window after
	// io.EOF. Otherwise it returns nil. If it returns a Reading and an error, some counters could not be read,
	// and the others are valid.
	Reading() (*Reading, error)
	// Stop ends the window, and then removes the probes.
	Stop() error
	// Close removes everything from the kernel. It may be called twice.
	Close() error
}

// errOver is an error of [Source.Read], besides io.EOF: the window is over, because all traced processes have ended, a
// process waits to write to the binary or may have modified it, or Options.Limit calls were seen.
var errOver = errors.New("the window is over")

// Talk prints the messages of a source.
type Talk interface {
	Say(format string, args ...any)
	// Warn prints a message even with --quiet.
	Warn(text string)
	// Progress shows a text until stop is called.
	Progress(text string) (stop func())
}

// Reading holds the numbers from the beginning of the window to a moment. The source sets the counts, and engine.Totals
// sets Whole and Since.
type Reading struct {
	// Summary compares the kernel's counts with the delivered events.
	stats.Summary
	Whole     []stats.Func      // totals of functions since the beginning; the next calls change its histograms
	Since     []stats.Func      // totals since the previous reading, if the totals have intervals
	At        time.Time         // the moment; Summary.Began is the beginning of the window
	Last      bool              // the window has ended
	Written   bool              // a process waits to write to the binary, or may have modified it
	Counts    *pairing.Counts   // calls and hits
	Estimates []*stats.Estimate // estimates for functions that were not always watched; nil if all were
	Used      time.Duration     // CPU time of the traced processes
	Changes   float64           // number of probes placed and removed, times the number of CPUs that the program uses
	Waited    float64           // share of their runnable time that threads waited for a CPU
}

// Limits say when the window of a run ends, and when it is read in between.
type Limits struct {
	Duration time.Duration // of the window; 0 is no limit
	Interval time.Duration // between two readings; 0 is none
	Soon     bool          // add a reading shortly after the beginning, because a user waits for the first numbers
}

// soon is the time of the first reading with Limits.Soon.
const soon = 200 * time.Millisecond

// Run starts program, unless it is nil, and yields the items of an armed source until ctx is done, program has ended, or
// the limits or the source end the window. Then it stops the source and yields its last items, without [pairing.Read]. An
// error comes last: it says that program did not start, or that the source has failed. If the caller's loop ends early,
// the source is not stopped.
func Run(ctx context.Context, s Source, program *Command, limits Limits) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		// When the program has ended, a read need not wait for more.
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		if program != nil {
			if err := s.Spawn(program); err != nil {
				yield(nil, err)
				return
			}
			defer context.AfterFunc(program.ended, cancel)()
		}
		var tick, first, expired <-chan time.Time
		if limits.Interval > 0 {
			tick = time.Tick(limits.Interval)
		}
		if limits.Duration > 0 {
			expired = time.After(limits.Duration - time.Since(s.Began()))
		}
		if limits.Soon {
			first = time.After(soon)
		}
		var failed error
		for failed == nil { // reads at least once, because the buffer may have events
			for it, err := range s.Read(reading) {
				if failed = err; err == nil && !yield(it, nil) {
					return
				}
			}
			if reading.Err() != nil || errors.Is(failed, io.EOF) {
				failed = errOver
			}
			if failed != nil {
				break
			}
			select {
			case <-expired:
				failed = errOver
			case <-tick:
				failed = s.Mark()
			case <-first:
				failed = s.Mark()
			default:
			}
		}
		if errors.Is(failed, errOver) {
			failed = nil
		}
		failed = errors.Join(failed, s.Stop())
		for {
			// This read can't be canceled: it ends by itself, and the counts need all events.
			for it, err := range s.Read(context.Background()) {
				switch {
				case err != nil:
					if !errors.Is(err, io.EOF) {
						failed = errors.Join(failed, err)
					}
					if failed != nil {
						yield(nil, failed)
					}
					return
				case it.Kind != pairing.Read && !yield(it, nil):
					return
				}
			}
		}
	}
}

// window is the common part of the sources: the plan, the window, the stream of hits, and the kernel's counters.
type window struct {
	plan     *uprobe.Plan
	opt      Options
	host     string // name of the machine
	clock    Clock
	stream   *pairing.Stream
	counters counters
	from     tracefs.Mark // beginning of the window
	until    tracefs.Mark // end of the window
}

// counters reads the kernel's counters, see [tracefs.Session].
type counters interface {
	Profile() ([][]uint64, error)
	Overruns() (uint64, error)
}

func (w *window) Clock() *Clock { return &w.clock }

// newStream sets the stream. of is as in [pairing.Options].
func (w *window) newStream(src parse.Source, of func(tid, printed int) (pid int, selected bool)) (err error) {
	w.opt.Of = of
	w.stream, err = pairing.NewStream(w.plan, src, w.opt.Options)
	return err
}

// Began implements [Source].
func (w *window) Began() time.Time { return w.from.At }

// OwnCPU returns the CPU time that this process has used.
func OwnCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // can't fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reading returns the counts up to a mark that the stream has reached.
func (w *window) reading(at tracefs.Mark) (*Reading, error) {
	overruns, err := w.counters.Overruns()
	own, inexact := w.opt.All(), !w.opt.Recorder.Features.ExactHits && len(w.opt.With) == 0
	c := w.stream.Counts(pairing.Counters{From: w.from.Hits, At: at.Hits, Overruns: overruns, Exclusive: own, Inexact: inexact})
	r := &Reading{At: at.At, Counts: c}
	// The window is timed by two clocks: a short one may seem to end before it begins, by microseconds.
	r.Summary = stats.Summary{
		Probes: w.plan.Probes(), Functions: w.plan.RequestedFuncs(), Host: w.host, Began: w.from.At, Seconds: max(at.At.Sub(w.from.At).Seconds(), 0),
		Pass: max(w.from.Width, at.Width), LatencyMeasured: w.plan.Mode == uprobe.Latency, Clock: w.clock.Clock,
	}
	for _, s := range w.plan.Skipped {
		r.Skipped = append(r.Skipped, stats.Skipped{Function: s.Name, Reason: s.Err.Error()})
	}
	if c.Pairs != nil {
		r.Pairs = &stats.Pairs{Twice: c.Pairs.Twice, Before: c.Pairs.Before, Late: c.Pairs.Late, Unread: c.Pairs.Unread, Outdated: c.Pairs.Outdated}
	}
	r.Streamed, r.Elsewhere = w.plan.Mode != uprobe.Count, c.Elsewhere
	r.Hits, r.Delivered, r.Filtered, r.Lost, r.Counted, r.Unparsed = c.Hits, c.Delivered, c.Filtered, c.Lost, c.CountedOnly, c.Unparsed
	if own && !w.plan.Filtered() {
		r.Before = sumCounts(w.from.Hits)
	}
	return r, err
}

// last returns the reading of the whole window, with the number of hits after it.
func (w *window) last() (*Reading, error) {
	profile, unread := w.counters.Profile()
	if w.until.Hits == nil {
		w.until.Hits = profile
	}
	r, err := w.reading(w.until)
	if r.Last = true; w.opt.All() {
		all := sumCounts(profile)
		r.After = all - min(all, r.Before+r.Hits)
	}
	return r, errors.Join(unread, err)
}

func sumCounts(profile [][]uint64) (n uint64) {
	for _, sites := range profile {
		for _, count := range sites {
			n += count
		}
	}
	return n
}

// Costs measures the cost of probe hits.
type Costs interface {
	// Start starts the measurement. Take waits for the first result, and returns the latest one. It returns nil if the
	// measurement has failed. Live calls both before it arms the probes, because each session that the measurement sets
	// up would delay the removal of the probes of hot functions.
	Start(ctx context.Context)
	Take() *pairing.HitCosts
	// Stop ends the measurement. End also waits until its probes are removed. Wait is End, and panics again
	// if the measuring goroutine has panicked.
	Stop()
	End()
	Wait()
}

// NoCosts is a Costs that measures nothing.
type NoCosts struct{}

func (NoCosts) Start(context.Context)   {}
func (NoCosts) Take() *pairing.HitCosts { return nil }
func (NoCosts) Stop()                   {}
func (NoCosts) End()                    {}
func (NoCosts) Wait()                   {}
