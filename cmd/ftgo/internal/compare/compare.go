// Package compare tells what has changed between the calls of two sets of runs: how often functions
// are called, how often they fail, and how long they take. It is pure.
//
// Package golang.org/x/perf/benchmath compares samples; here there are histograms of thousands of calls,
// whose ranks are known to 1 %, and hundreds of functions at once.
package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/stats"
)

// Aspect is what may have changed of a function.
type Aspect uint8

const (
	Calls   Aspect = iota // how often it is called
	Errors                // which share of calls fails
	Latency               // how long calls take: whether one of then or one of now takes longer
	Tail                  // which share of calls takes longer than 99 of 100 of all
	Aspects
)

// Names are those of aspects.
var Names = [Aspects]string{"calls", "errors", "latency", "tail"}

// Seen is what one run has seen of a function.
type Seen struct {
	Seconds           float64 // in which calls were counted
	Calls             uint64
	Completed, Failed uint64 // Failed are errors, if Judged
	Judged            bool
	Latency           *stats.Histogram // nil if it was not measured
	// Low and High bound Latency where the cost of probes was taken off, which is not known exactly.
	Low, High *stats.Histogram
}

// Pair is a function, as each run of either side has seen it.
type Pair struct {
	Name string
	Side [2][]Seen // old and new
}

// Change is how one aspect of a function differs.
type Change struct {
	Old, New float64 // calls a second, a share, the median and the 99th percentile in ns; NaN where there is none
	Tested   bool    // there was enough to tell
	P        float64 // how likely such a difference is without a change, by this aspect alone
	Changed  bool
	of       statistic
}

// Factor is New as a multiple of Old: infinite for what was not there before.
func (c *Change) Factor() float64 {
	if c.Old == c.New {
		return 1
	}
	return c.New / c.Old
}

// Function is what has become of a function.
type Function struct {
	Name    string
	Changes [Aspects]Change
	Seen    [2]Seen // all runs of a side together
	// Slower is how likely a call of the new side takes longer than one of the old; half if nothing has
	// changed, NaN if either has no latencies.
	Slower  float64
	Tested  bool
	P       float64 // of all aspects together
	Changed bool
}

// Compare compares functions by some aspects. Of those that have not changed, a share of at most alpha is
// expected to be called changed, and so is a share of at most alpha of those that are called so
// (Benjamini and Hochberg 1995). Functions come first that have changed, those by the largest factor.
func Compare(pairs []Pair, by []Aspect, alpha float64) []Function {
	functions := make([]Function, len(pairs))
	for i := range pairs {
		functions[i] = measure(&pairs[i], by)
	}
	for _, a := range by {
		judge(functions, a)
	}
	var tested []*Function
	for i := range functions {
		f := &functions[i]
		least, number := 1.0, 0.0
		for _, c := range f.Changes {
			if c.Tested {
				least = min(least, c.P)
				number++
			}
		}
		// Any one of several aspects may differ by chance (Bonferroni).
		if f.P = 1; number > 0 {
			f.Tested, f.P = true, min(least*number, 1)
			tested = append(tested, f)
		}
	}
	slices.SortFunc(tested, func(a, b *Function) int { return cmp.Compare(a.P, b.P) })
	limit := -1.0
	for i, f := range tested {
		if reached := alpha * float64(i+1) / float64(len(tested)); f.P <= reached {
			limit = reached
		}
	}
	for _, f := range tested {
		f.conclude(limit)
	}
	slices.SortFunc(functions, func(f, g Function) int {
		return cmp.Or(cmp.Compare(g.most(), f.most()), cmp.Compare(f.P, g.P), strings.Compare(f.Name, g.Name))
	})
	return functions
}

// Doubt calls no aspect changed: one run a side does not tell how much runs differ by themselves.
func Doubt(functions []Function) {
	for i := range functions {
		f := &functions[i]
		f.conclude(-1)
		f.Changed = false
	}
}

// conclude says what has changed, where that is what a p-value up to limit means.
func (f *Function) conclude(limit float64) {
	number := 0.0
	for _, c := range f.Changes {
		if c.Tested {
			number++
		}
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		c.Changed = c.Tested && min(c.P*number, 1) <= limit
		f.Changed = f.Changed || c.Changed
	}
}

// most is by how much a function has changed: the logarithm of its largest factor, -1 if none has.
func (f *Function) most() float64 {
	most := -1.0
	for i := range f.Changes {
		if c := &f.Changes[i]; c.Changed {
			most = max(most, math.Abs(math.Log(c.Factor())))
		}
	}
	return most
}

// measure tests the aspects of a function, each by itself.
func measure(p *Pair, by []Aspect) Function {
	f := Function{Name: p.Name, Seen: [2]Seen{together(p.Side[0]), together(p.Side[1])}, Slower: math.NaN()}
	for i := range f.Changes {
		f.Changes[i] = Change{Old: math.NaN(), New: math.NaN(), P: 1}
	}
	old, now := &f.Seen[0], &f.Seen[1]
	for _, a := range by {
		c := &f.Changes[a]
		switch {
		case a == Calls && old.Seconds > 0 && now.Seconds > 0:
			c.Old, c.New = float64(old.Calls)/old.Seconds, float64(now.Calls)/now.Seconds
			c.of = rates(p.Side)
		case a == Errors:
			c.of = shares(p.Side, failed)
			if c.of.known {
				c.Old, c.New = share(p.Side[0], failed), share(p.Side[1], failed)
			}
		case (a == Latency || a == Tail) && counts(old) > 0 && counts(now) > 0:
			q := map[Aspect]float64{Latency: 0.5, Tail: 0.99}[a]
			c.Old, c.New = float64(old.Latency.Quantile(q)), float64(now.Latency.Quantile(q))
			if a == Latency {
				if c.of, f.Slower = ranks(p.Side); meet(old, now, q) {
					c.of.z = 0
				}
				continue
			}
			all := &stats.Histogram{}
			all.Add(old.Latency)
			all.Add(now.Latency)
			limit := all.Quantile(q)
			c.of = shares(p.Side, func(s Seen) (of, all uint64) {
				if counts(&s) == 0 {
					return 0, 0
				}
				return s.Latency.Count() - s.Latency.AtMost(limit), s.Latency.Count()
			})
			if meet(old, now, q) {
				c.of.z = 0
			}
		}
	}
	return f
}

// meet tells whether a quantile may be the same on both sides, by what is known of the cost of probes: then a
// difference may be that of the cost.
func meet(a, b *Seen, q float64) bool {
	lowA, highA := a.between(q)
	lowB, highB := b.between(q)
	return lowA <= highB && lowB <= highA && (lowA < highA || lowB < highB)
}

// between bounds a quantile of latencies.
func (s *Seen) between(q float64) (low, high int64) {
	at := s.Latency.Quantile(q)
	if s.Low == nil {
		return at, at
	}
	return min(s.Low.Quantile(q), at), max(s.High.Quantile(q), at)
}

// failed are the calls that have failed, of those whose results were looked at: of other runs nobody knows.
func failed(s Seen) (of, all uint64) {
	if !s.Judged {
		return 0, 0
	}
	return s.Failed, s.Completed
}

// share is which share of the calls of runs has something.
func share(runs []Seen, of func(Seen) (of, all uint64)) float64 {
	var have, all float64
	for _, run := range runs {
		n, number := of(run)
		have, all = have+float64(n), all+float64(number)
	}
	return have / all
}

func counts(s *Seen) uint64 {
	if s.Latency == nil {
		return 0
	}
	return s.Latency.Count()
}

// together is what runs have seen.
func together(runs []Seen) (all Seen) {
	for _, s := range runs {
		all.Seconds += s.Seconds
		all.Calls += s.Calls
		if s.Judged {
			all.Judged = true
			all.Failed += s.Failed
		}
		all.Completed += s.Completed
		if s.Latency != nil {
			// Of runs whose latencies have no bounds these are their own.
			all.AddLatency(s.Latency, cmp.Or(s.Low, s.Latency), cmp.Or(s.High, s.Latency))
		}
	}
	return all
}

// AddLatency adds latencies, and what bounds them.
func (s *Seen) AddLatency(latency, low, high *stats.Histogram) {
	if s.Latency == nil {
		s.Latency, s.Low, s.High = &stats.Histogram{}, &stats.Histogram{}, &stats.Histogram{}
	}
	s.Latency.Add(latency)
	s.Low.Add(low)
	s.High.Add(high)
}

// judge gives an aspect of all functions its p-values. Chance is not all that two runs of one side differ
// by: hosts do, and so do days. By how much more is seen among the runs of either side, of the function and of
// all functions together.
func judge(functions []Function, a Aspect) {
	var within, df float64
	for i := range functions {
		s := &functions[i].Changes[a].of
		within, df = within+s.within, df+s.df
	}
	for i := range functions {
		c := &functions[i].Changes[a]
		if c.Tested = c.of.known; !c.Tested {
			continue
		}
		spread := 1.0
		if df > 0 {
			spread = max(spread, within/df)
		}
		if c.of.df > 0 {
			spread = max(spread, c.of.within/c.of.df)
		}
		c.P = c.of.p(spread)
	}
}
