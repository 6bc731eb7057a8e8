// Package compare reads what -o json has written of runs, adds runs up, those of many machines, or of one at
// several times, and tells what has changed between the calls of two sets of them: how often functions
// are called, how often they fail, and how long they take.
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

// Change is how one aspect of a function differs.
type Change struct {
	Old, New float64 // calls a second, a share, the median and the 99th percentile in ns; NaN where there is none
	Tested   bool    // there was enough to tell
	P        float64 // how likely such a difference is without a change, by this aspect alone
	Changed  bool
	// z is how many standard deviations the sides differ by, if nothing but chance is at work.
	z float64
	// within is how much the runs of either side differ among each other: by chance alone its mean is
	// df, which is how many runs there are beyond the first of each side.
	within, df float64
}

// Factor is New as a multiple of Old: infinite for what was not there before.
func (c *Change) Factor() float64 {
	if c.Old == c.New {
		return 1
	}
	return c.New / c.Old
}

// Function is a function, as each run of either side has seen it, and what has become of it.
type Function struct {
	Name    string
	Side    [2][]stats.Func // old and new
	Changes [Aspects]Change
	Seen    [2]stats.Func // all runs of a side together
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
func Compare(functions []Function, by []Aspect, alpha float64) []Function {
	functions = slices.Clone(functions)
	for i := range functions {
		functions[i].measure(by)
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
func (f *Function) measure(by []Aspect) {
	f.Seen, f.Slower = [2]stats.Func{together(f.Side[0]), together(f.Side[1])}, math.NaN()
	for i := range f.Changes {
		f.Changes[i] = unknown
	}
	old, now := &f.Seen[0], &f.Seen[1]
	for _, a := range by {
		c := &f.Changes[a]
		switch {
		case a == Calls && old.Seconds > 0 && now.Seconds > 0:
			*c = rates(f.Side)
		case a == Errors:
			*c = shares(f.Side, failed)
		case (a == Latency || a == Tail) && counts(old) > 0 && counts(now) > 0:
			q := map[Aspect]float64{Latency: 0.5, Tail: 0.99}[a]
			if a == Latency {
				*c, f.Slower = ranks(f.Side)
			} else {
				var all stats.Histogram
				all.Add(old.Latency)
				all.Add(now.Latency)
				limit := all.Quantile(q)
				*c = shares(f.Side, func(f stats.Func) (of, all uint64) {
					if counts(&f) == 0 {
						return 0, 0
					}
					return f.Latency.Count() - f.Latency.AtMost(limit), f.Latency.Count()
				})
			}
			c.Old, c.New = float64(old.Latency.Quantile(q)), float64(now.Latency.Quantile(q))
			if meet(old, now, q) {
				c.z = 0
			}
		}
	}
}

// meet tells whether a quantile may be the same on both sides, by what is known of the cost of probes: then a
// difference may be that of the cost.
func meet(a, b *stats.Func, q float64) bool {
	lowA, highA := between(a, q)
	lowB, highB := between(b, q)
	return lowA <= highB && lowB <= highA && (lowA < highA || lowB < highB)
}

// between bounds a quantile of latencies.
func between(f *stats.Func, q float64) (low, high int64) {
	at := f.Latency.Quantile(q)
	if f.Bounds == nil {
		return at, at
	}
	return min(f.Bounds.Low.Quantile(q), at), max(f.Bounds.High.Quantile(q), at)
}

// failed are the calls that have failed, of those whose results were looked at: of other runs nobody knows.
func failed(f stats.Func) (of, all uint64) {
	if !f.ReturnsErrors {
		return 0, 0
	}
	return f.Errors, f.Completed
}

func counts(f *stats.Func) uint64 {
	if f.Latency == nil {
		return 0
	}
	return f.Latency.Count()
}

// together is what runs have seen, one after the other.
func together(runs []stats.Func) (all stats.Func) {
	for _, f := range runs {
		all.Add(&f)
		all.Seconds += f.Seconds
	}
	return all
}

// judge gives an aspect of all functions its p-values. Chance is not all that two runs of one side differ
// by: hosts do, and so do days. By how much more is seen among the runs of either side, of the function and of
// all functions together.
func judge(functions []Function, a Aspect) {
	var within, df float64
	for i := range functions {
		c := &functions[i].Changes[a]
		within, df = within+c.within, df+c.df
	}
	for i := range functions {
		c := &functions[i].Changes[a]
		if !c.Tested {
			continue
		}
		spread := 1.0
		if df > 0 {
			spread = max(spread, within/df)
		}
		if c.df > 0 {
			spread = max(spread, c.within/c.df)
		}
		c.P = c.p(spread)
	}
}
