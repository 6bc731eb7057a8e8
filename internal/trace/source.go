// Package trace is the engine that the command and the toolkit stand on: sources of calls, which
// are live or recorded, and what they add up to.
package trace

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Source tells what happens in the functions of a plan. It is used by one goroutine: Arm, Spawn
// at most once, Read and Mark, Stop, Read until io.EOF, Reading, and Close in any case.
type Source interface {
	// Clock is that of the calls' stamps.
	Clock() *Clock
	// Arm begins. After an error only Close is left to do.
	Arm(ctx context.Context) error
	// Began is when the window began; not ok is that nobody has run the binary yet.
	Began() (at time.Time, ok bool)
	// Spawn starts a program whose first hit is not missed.
	Spawn(p *Command) error
	// Read yields what has happened, for some 20 ms at most, and at last [pairing.Read]; its error is why
	// there is no more to come: io.EOF once all could be read.
	Read(ctx context.Context) iter.Seq2[*pairing.Item, error]
	// Mark ends an interval now: [pairing.Marked] is told at its place among the calls.
	Mark() error
	// Reading is what was counted where Marked has just been told or, once Read has come to its end, in the whole window. It is nil
	// if that is not known. The error is why some counters could not be read: what is told counts all the same.
	Reading() (*Reading, error)
	// Stop ends the window, and then takes the probes out.
	Stop() error
	// Close removes everything; it may be called again.
	Close() error
}

// Why a Source has no more to tell, besides io.EOF.
var (
	// ErrGone: no process that is traced lives.
	ErrGone = errors.New("the processes have ended")
	// ErrWritten: somebody writes to the binary.
	ErrWritten = errors.New("somebody writes to the binary")
	// ErrLimit: there were as many calls as are wanted.
	ErrLimit = errors.New("enough calls")
)

// Talk is where a source says what a user wants to know.
type Talk interface {
	Say(format string, args ...any)
	// Warn is for what is said even to those who want quiet.
	Warn(text string)
}

// Filter says which processes are wanted. The zero Filter wants all that run the binary.
type Filter struct {
	PIDs []int
	Sole bool // nobody else runs the binary, so that the kernel's counters are of PIDs alone
	Fork bool // those that they start, too
	// Among tells whether a process is one of those that are traced, as far as that is known: one that has ended before is none.
	// Nil is all.
	Among func(pid int) bool
}

// All tells whether every process is wanted, as far as there are others.
func (f *Filter) All() bool {
	return (f.Sole || len(f.PIDs) == 0) && !f.Fork && f.Among == nil
}

// Reading is what was counted from the beginning of the window to a moment.
type Reading struct {
	// Summary has the audit: what the kernel counted, and what of it was delivered.
	stats.Summary
	From, At   time.Time       // the window's ends
	Last       bool            // there is nothing more to come
	Counts     *pairing.Counts // of calls and hits, as far as the source has got
	Whole      []*stats.Whole  // estimates of functions that were not watched all the time; nil if all were
	Unfollowed uint64          // calls that were not paired, as too many others were open
	Used       time.Duration   // the CPU time that the program has used
	Changes    float64         // how often probes were placed and removed meanwhile, on each CPU that it uses
	Waited     float64         // the share of time that it waited for a CPU
}

// Watch yields what an armed source tells until there is a reason to end, be it that the program which it has
// started, if that is not nil, has ended. Only what has failed is an error. Every so often, unless
// that is 0, an interval ends. A loop over it that ends before [pairing.Read] drops what was read besides.
func Watch(ctx context.Context, s Source, program *Command, every time.Duration) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		var tick <-chan time.Time
		if every > 0 {
			tick = time.Tick(every)
		}
		// Nothing that is read is waited for when the program has ended.
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		if program != nil {
			defer context.AfterFunc(program.ended, cancel)()
		}
		for { // once at least: what has ended by now was recorded
			for it, err := range s.Read(reading) {
				switch {
				case err != nil && (reading.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, ErrLimit) || errors.Is(err, ErrGone)):
					return
				case !yield(it, err), err != nil:
					return
				}
			}
			if reading.Err() != nil {
				return
			}
			select {
			case <-tick:
				if err := s.Mark(); err != nil {
					yield(nil, err)
					return
				}
			default:
			}
		}
	}
}

// Drain ends the window of a source, and yields what is left of it. An error comes last.
func Drain(s Source) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		stopped := s.Stop()
		for {
			// Not to be canceled: it ends by itself, and the accounts are to balance.
			for it, err := range s.Read(context.Background()) {
				switch {
				case errors.Is(err, io.EOF) && stopped == nil:
					return
				case errors.Is(err, io.EOF):
					yield(nil, stopped)
					return
				case err != nil:
					yield(nil, errors.Join(stopped, err))
					return
				case !yield(it, nil):
					return
				}
			}
		}
	}
}

// window is what sources have in common: what is traced, the window that all numbers are of, a stream
// of hits, and counters that it is to agree with.
type window struct {
	plan     *uprobe.Plan
	opt      Options
	host     string // the machine
	clock    Clock
	stream   *pairing.Stream
	counters counters
	from     tracefs.Mark  // where the window begins
	until    tracefs.Mark  // and ends
	began    bool          // it has begun
	own      time.Duration // the CPU time that this process had used then
	// What is live has these.
	vanished vanished
	program  *Command // nil if none was started
	fs       *tracefs.FS
	session  *tracefs.Session // nil before Arm
}

// counters are the kernel's: see [tracefs.Session].
type counters interface {
	Profile() ([][]uint64, error)
	Overruns() (uint64, error)
}

func (w *window) Clock() *Clock { return &w.clock }

// newStream makes the stream.
func (w *window) newStream(src pairing.Source, of pairing.Processes, kernel *tracefs.Session) (err error) {
	opt := pairing.Options{Entries: w.opt.Entries, Inside: w.opt.Inside, Limit: w.opt.Limit}
	if kernel != nil {
		opt.Kernel = kernel
	}
	w.stream, err = pairing.NewStream(w.plan, src, of, opt)
	return err
}

// begin says that the window begins.
func (w *window) begin() {
	w.began, w.own = true, OwnCPU()
}

// Began is when the window began, if it has.
func (w *window) Began() (at time.Time, ok bool) { return w.from.At, w.began }

// OwnCPU is the CPU time that this process has used.
func OwnCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it can't fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reading is what was counted up to a moment that the stream has come to.
func (w *window) reading(at tracefs.Mark) (*Reading, error) {
	overruns, err := w.counters.Overruns()
	own, inexact := w.opt.All(), !w.opt.Features.ExactHits && len(w.opt.With) == 0
	c := w.stream.Counts(pairing.Counters{From: w.from.Hits, At: at.Hits, Overruns: overruns, Own: own, Inexact: inexact})
	r := &Reading{From: w.from.At, At: at.At, Counts: c, Unfollowed: c.Unfollowed}
	r.Summary = stats.Summary{ // a window that ends at once may seem to end before it, by microseconds of the two clocks
		Probes: w.plan.Probes(), Functions: w.plan.Asked(), Host: w.host, Began: w.from.At, Seconds: max(at.At.Sub(w.from.At).Seconds(), 0),
		Pass: max(w.from.Width, at.Width), LatencyMeasured: w.plan.Mode == uprobe.Latency, Clock: w.clock.Clock,
		Vanished: slices.Sorted(maps.Keys(w.vanished.told)),
	}
	for _, s := range w.plan.Skipped {
		r.Skipped = append(r.Skipped, stats.Skipped{Function: s.Name, Reason: s.Err.Error()})
	}
	r.Streamed, r.Elsewhere = w.plan.Mode != uprobe.Count, c.Elsewhere
	r.Hits, r.Delivered, r.Filtered, r.Lost, r.Counted, r.Unparsed = c.Hits, c.Delivered, c.Filtered, c.Lost, c.CountedOnly, c.Unparsed
	if own && !w.plan.Filtered() {
		r.Before = sumCounts(w.from.Hits)
	}
	return r, err
}

// last is the reading of the whole window, which tells what was hit besides.
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

// Close removes what is live.
func (w *window) Close() error {
	var err error
	if w.session != nil {
		err = w.session.Close()
	}
	w.plan.Binary.File().Release()
	return err
}

func sumCounts(profile [][]uint64) (n uint64) {
	for _, sites := range profile {
		for _, count := range sites {
			n += count
		}
	}
	return n
}
