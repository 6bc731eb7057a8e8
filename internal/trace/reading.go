package trace

import (
	"errors"

	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// streamed is what a [Live] and a [Recording] have in common: a stream of hits, and counters that
// they are to agree with.
type streamed struct {
	plan     *uprobe.Plan
	filter   *Filter
	skipped  []stats.Skipped // before there was a plan
	inexact  bool            // see parse.Counters
	clock    Clock
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

// reading is what was counted up to a moment that the stream has come to.
func (s *streamed) reading(at tracefs.Mark) *Reading {
	overruns, err := s.counters.Overruns()
	own := s.filter.All()
	c := s.stream.Counts(parse.Counters{From: s.from.Hits, At: at.Hits, Overruns: overruns, Own: own, Inexact: s.inexact})
	r := &Reading{From: s.from.At, At: at.At, Err: err, Counts: c, Unfollowed: c.Unfollowed}
	r.Summary = stats.Summary{
		Hits: c.Hits, Delivered: c.Delivered, Filtered: c.Filtered, Lost: c.Lost, Counted: c.CountedOnly, Unparsed: c.Unparsed,
		Probes: s.plan.Probes(), Functions: len(s.plan.Funcs), Skipped: skipped(s.skipped, s.plan.Skipped),
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
	if r.Last = true; s.filter.All() {
		all := sumCounts(profile)
		r.After = all - min(all, r.Before+r.Hits)
	}
	return r
}

func skipped(before []stats.Skipped, planned []uprobe.Skipped) []stats.Skipped {
	var all []stats.Skipped
	all = append(all, before...)
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
