// Package trace is the engine that the command and the toolkit stand on: sources of calls, which
// are live or recorded, and what they add up to.
package trace

import (
	"context"
	"errors"
	"io"
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
// at most once, Read and Mark, Stop, Read until io.EOF, and Close in any case.
type Source interface {
	// Clock is that of the calls' stamps.
	Clock() *Clock
	// Arm begins. After an error only Close is left to do.
	Arm(ctx context.Context, sink Sink) error
	// Spawn starts a program whose first hit is not missed.
	Spawn(p *Command) error
	// Read tells what has happened. It returns after some 20 ms at the latest; its error is why
	// there is no more to come: io.EOF once the last Reading was told, and all could be read.
	Read(ctx context.Context) error
	// Mark ends an interval now: the sink gets a Reading at its place among the calls.
	Mark() error
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

// Sink takes what a Source tells, in order. What it gets is valid until the method returns.
type Sink interface {
	pairing.Sink
	// ProcessEnded: all of a process was read, and its number may be used again.
	ProcessEnded(pid int)
	// Reading comes when the window begins, behind all that happened before a Mark and ahead of
	// what came later, and last.
	Reading(*Reading)
}

// Talk is where a source says what a user wants to know.
type Talk interface {
	Say(format string, args ...any)
	// Warn is for what is said even to those who want quiet.
	Warn(text string)
}

// Filter says which processes are wanted. The zero Filter wants all that run the binary.
type Filter struct {
	PIDs []int
	Sole bool   // nobody else runs the binary, so that the kernel's counters are of PIDs alone
	Fork bool   // those that they start, too
	Comm string // the name of the processes
	// Among tells whether a process is one of those that are traced, as far as that is known: one that has ended before is none.
	// Nil is all.
	Among func(pid int) bool
}

// All tells whether every process is wanted, as far as there are others.
func (f *Filter) All() bool {
	return (f.Sole || len(f.PIDs) == 0) && !f.Fork && f.Comm == "" && f.Among == nil
}

// Reading is what was counted from the beginning of the window to a moment.
type Reading struct {
	// Summary has the audit: what the kernel counted, and what of it was delivered.
	stats.Summary
	From, At   time.Time       // the window's ends
	First      bool            // the window begins, and nothing has been counted
	Last       bool            // there is nothing more to come
	Counts     *pairing.Counts // of calls and hits, as far as the source has got
	Whole      []*stats.Whole  // estimates of functions that were not watched all the time; nil if all were
	Unfollowed uint64          // calls that were not paired, as too many others were open
	Used       time.Duration   // the CPU time that the program has used
	Changes    float64         // how often probes were placed and removed meanwhile, on each CPU that it uses
	Waited     float64         // the share of time that it waited for a CPU

	err error // why some counters could not be read: what was told counts all the same
}

// Watch reads an armed source until there is a reason to end, be it that the program which it has
// started, if that is not nil, has ended. Only what has failed is an error. Every so often, unless
// that is 0, an interval ends. told comes when all that was read was told, and its error is an end,
// too.
func Watch(ctx context.Context, s Source, program *Command, every time.Duration, told func() error) error {
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
	for {
		err := s.Read(reading)
		if failed := told(); failed != nil {
			return failed
		}
		switch {
		case reading.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, ErrLimit), errors.Is(err, ErrGone):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-tick:
			if err := s.Mark(); err != nil {
				return err
			}
		default:
		}
	}
}

// Drain ends the window of a source, and reads what is left of it.
func Drain(s Source, told func() error) error {
	stopped := s.Stop()
	for {
		// Not to be canceled: it ends by itself, and the accounts are to balance.
		err := s.Read(context.Background())
		if failed := told(); failed != nil {
			return errors.Join(failed, stopped)
		}
		switch {
		case errors.Is(err, io.EOF):
			return stopped
		case err != nil:
			return errors.Join(stopped, err)
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
	sink     Sink
	stream   *pairing.Stream
	counters counters
	from     tracefs.Mark  // where the window begins
	until    tracefs.Mark  // and ends
	own      time.Duration // the CPU time that this process had used when it began
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

// newStream makes the stream, whose sink may see to what the caller's does not get.
func (w *window) newStream(src pairing.Source, of pairing.Processes, sink pairing.Sink, kernel *tracefs.Session) (err error) {
	opt := pairing.Options{Entries: w.opt.Entries, Inside: w.opt.Inside, Limit: w.opt.Limit}
	if kernel != nil {
		opt.Kernel = kernel
	}
	w.stream, err = pairing.NewStream(w.plan, src, of, sink, opt)
	return err
}

// begin says that the window begins.
func (w *window) begin() {
	w.own = OwnCPU()
	w.sink.Reading(&Reading{First: true, From: w.from.At, At: w.from.At})
}

// OwnCPU is the CPU time that this process has used.
func OwnCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it can't fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reading is what was counted up to a moment that the stream has come to.
func (w *window) reading(at tracefs.Mark) *Reading {
	overruns, err := w.counters.Overruns()
	own, inexact := w.opt.All(), !w.opt.Features.ExactHits && len(w.opt.With) == 0
	c := w.stream.Counts(pairing.Counters{From: w.from.Hits, At: at.Hits, Overruns: overruns, Own: own, Inexact: inexact})
	r := &Reading{From: w.from.At, At: at.At, err: err, Counts: c, Unfollowed: c.Unfollowed}
	r.Summary = stats.Summary{
		Probes: w.plan.Probes(), Functions: w.plan.Asked(), Host: w.host, Began: w.from.At, Seconds: at.At.Sub(w.from.At).Seconds(),
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
	return r
}

// last is the reading of the whole window, which tells what was hit besides.
func (w *window) last() *Reading {
	profile, err := w.counters.Profile()
	if w.until.Hits == nil {
		w.until.Hits = profile
	}
	r := w.reading(w.until)
	r.err = errors.Join(err, r.err)
	if r.Last = true; w.opt.All() {
		all := sumCounts(profile)
		r.After = all - min(all, r.Before+r.Hits)
	}
	return r
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
