// Package compare reads runs that -o json has written, adds them up, over machines or over time, and finds
// the functions that differ between two sets of runs: in how often they are called, how often they fail, and
// how long they take.
//
// Package golang.org/x/perf/benchmath compares samples. This package compares histograms of thousands of calls,
// whose ranks are known to 1 %, of hundreds of functions at once.
package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/stats"
)

// Aspect is a property of a function that may change.
type Aspect uint8

const (
	Calls   Aspect = iota // calls a second
	Errors                // the share of calls that fail
	Latency               // whether a call of one side takes longer than one of the other
	Tail                  // the share of calls that take longer than 99% of the calls of both sides
	Aspects
)

// Names are the names of aspects.
var Names = [Aspects]string{"calls", "errors", "latency", "tail"}

// Change is how one aspect of a function differs.
type Change struct {
	Old, New float64 // calls per second, a share, or a latency in ns: the median or the 99th percentile; NaN if unknown
	Tested   bool    // both sides had enough calls for a test
	P        float64 // the p-value of this aspect alone
	Changed  bool
	// z is the difference of the sides in standard deviations, if nothing but chance is at work.
	z float64
	// within is how much the runs of each side differ from each other. By chance alone its mean is df, the
	// number of runs beyond the first of each side.
	within, df float64
}

// Factor returns New as a multiple of Old, +Inf if Old is 0.
func (c *Change) Factor() float64 {
	if c.Old == c.New {
		return 1
	}
	return c.New / c.Old
}

// Function has the numbers of a function in the runs of both sides, and the result of their comparison.
type Function struct {
	Name    string
	Side    [2][]stats.Func // old and new
	Changes [Aspects]Change
	Seen    [2]stats.Func // all runs of a side together
	// Slower is the probability that a call of the new side takes longer than one of the old: 0.5 without a
	// change, NaN if a side has no latencies.
	Slower  float64
	Tested  bool
	P       float64 // of all aspects together
	Changed bool
}

// Compare compares functions by some aspects. At most a share of alpha of the unchanged functions is expected
// to be called changed, and at most a share of alpha of the functions that are called changed is expected not to
// be (Benjamini and Hochberg 1995). Changed functions come first, the largest factor at the top.
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

// Doubt marks all functions as unchanged, because one run a side does not show how much runs differ by themselves.
func Doubt(functions []Function) {
	for i := range functions {
		f := &functions[i]
		f.conclude(-1)
		f.Changed = false
	}
}

// conclude marks the aspects with a p-value up to limit as changed.
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

// most returns the logarithm of the largest factor of a changed aspect, -1 without one.
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

// meet reports whether the bounds of a quantile overlap. Then the difference may come from the cost of probes.
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

// failed returns the number of failed calls and of all calls, 0 if the run did not look at results.
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

// together adds up runs as if they were one after the other.
func together(runs []stats.Func) (all stats.Func) {
	for _, f := range runs {
		all.Add(&f)
		all.Seconds += f.Seconds
	}
	return all
}

// judge computes the p-values of an aspect. Runs of one side differ by more than chance, because hosts and days
// differ. How much more is estimated from the runs of each side, of the function and of all functions.
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
