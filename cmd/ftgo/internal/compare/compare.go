// Package compare reads runs that -o json has written, adds them up, over machines or over time, and finds
// the functions that differ between two sides, the old and the new set of runs: in how often they are called, how
// often they fail, or how long they take.
//
// Package golang.org/x/perf/benchmath compares samples. This package compares histograms of thousands of calls
// of hundreds of functions at once.
package compare

import (
	"cmp"
	"maps"
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
	Latency               // the share of calls that take longer than the median of the calls of both sides
	Tail                  // the share of calls that take longer than 99% of the calls of both sides
	Aspects               // the number of aspects
)

// Names are the names of aspects.
var Names = [Aspects]string{"calls", "errors", "latency", "tail"}

// quantiles are the quantiles of latencies that the two aspects of latencies compare.
var quantiles = [Aspects]float64{Latency: 0.5, Tail: 0.99}

// Change is the difference between the two sides in one aspect of a function.
type Change struct {
	Old, New float64 // calls per second, a share, or a latency in ns: the median or the 99th percentile; NaN if unknown
	Tested   bool    // both sides had calls to compare
	P        float64 // the p-value of this aspect alone
	Changed  bool
	// z is the difference between the sides, in standard deviations of a difference by chance alone.
	z float64
	// within is how much the runs of each side differ from each other, as a chi-squared statistic. If they differ by
	// chance alone, its mean is df, the number of runs without the first run of each side.
	within, df float64
}

// Factor returns New as a multiple of Old: 1 if both are equal, else +Inf if Old is 0.
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
	// Slower is the probability that a call of the new side takes longer than a call of the old side: 0.5 without a
	// change, NaN if a side has no latencies.
	Slower  float64
	Tested  int     // the number of tested aspects
	P       float64 // the p-value of all aspects together
	Changed bool    // an aspect has changed
}

// Compare returns the functions with the results of a comparison of the aspects in by. At most a share of alpha of
// the unchanged functions is expected to be marked as changed. At most a share of alpha of the functions that are
// marked as changed is expected to be unchanged (Benjamini and Hochberg 1995). A negative alpha marks none. Changed
// functions come first, the largest factor, up or down, at the top.
func Compare(functions []Function, by []Aspect, alpha float64) []Function {
	functions = slices.Clone(functions)
	for i := range functions {
		functions[i].measure(by)
	}
	for _, a := range by {
		judge(functions, a)
	}
	var tested []float64
	for i := range functions {
		f := &functions[i]
		f.P = 1
		for _, c := range f.Changes {
			if c.Tested { // the more aspects are tested, the more likely one differs by chance (Bonferroni)
				f.P = min(f.P, c.P*float64(f.Tested))
			}
		}
		if f.Tested > 0 {
			tested = append(tested, f.P)
		}
	}
	slices.Sort(tested)
	limit := -1.0
	for i, p := range tested {
		if reached := alpha * float64(i+1) / float64(len(tested)); p <= reached {
			limit = reached
		}
	}
	for i := range functions {
		f := &functions[i]
		for a := range f.Changes {
			c := &f.Changes[a]
			c.Changed = c.Tested && c.P*float64(f.Tested) <= limit
			f.Changed = f.Changed || c.Changed
		}
	}
	slices.SortFunc(functions, func(f, g Function) int {
		return cmp.Or(cmp.Compare(g.most(), f.most()), cmp.Compare(f.P, g.P), strings.Compare(f.Name, g.Name))
	})
	return functions
}

// most returns the largest absolute logarithm of the factors of the changed aspects, -1 if no aspect has changed.
func (f *Function) most() float64 {
	most := -1.0
	for i := range f.Changes {
		if c := &f.Changes[i]; c.Changed {
			most = max(most, math.Abs(math.Log(c.Factor())))
		}
	}
	return most
}

// moments is the number of moments of a second in which a call may begin. There are so many that a call in one of them
// is rare, whatever the rate. So the number of calls a second is a share, too. A power of two keeps all digits of a rate.
const moments = 0x1p80

// measure tests the aspects of a function, each by itself.
func (f *Function) measure(by []Aspect) {
	f.Seen, f.Slower, f.Tested = [2]stats.Func{together(f.Side[0]), together(f.Side[1])}, math.NaN(), 0
	for i := range f.Changes {
		f.Changes[i] = unknown
	}
	old, now := &f.Seen[0], &f.Seen[1]
	for _, a := range by {
		c := &f.Changes[a]
		switch a {
		case Calls:
			*c = shares(f.Side, func(run *stats.Func) (calls, all float64) { return float64(run.Calls), run.Seconds * moments })
			c.Old, c.New, c.Tested = c.Old*moments, c.New*moments, c.Tested && max(old.Calls, now.Calls) > 0
		case Errors:
			*c = shares(f.Side, func(run *stats.Func) (failed, all float64) {
				if !run.ReturnsErrors { // it did not look at results
					return 0, 0
				}
				return float64(run.Errors), float64(run.Completed)
			})
		case Latency, Tail:
			if old.Latency == nil || now.Latency == nil {
				continue
			}
			var all stats.Histogram
			all.Add(old.Latency)
			all.Add(now.Latency)
			limit := all.Quantile(quantiles[a])
			*c = shares(f.Side, func(run *stats.Func) (longer, all float64) {
				if run.Latency == nil {
					return 0, 0
				}
				return float64(run.Latency.Count() - run.Latency.AtMost(limit)), float64(run.Latency.Count())
			})
			c.Old, c.New = float64(old.Latency.Quantile(quantiles[a])), float64(now.Latency.Quantile(quantiles[a]))
			lowOld, highOld := between(old, quantiles[a])
			lowNow, highNow := between(now, quantiles[a])
			if lowOld <= highNow && lowNow <= highOld && (lowOld < highOld || lowNow < highNow) {
				c.z = 0 // the bounds overlap: the difference may come from the cost of probes
			}
			if a == Latency {
				f.Slower = slower(old.Latency, now.Latency)
			}
		}
		if c.Tested {
			f.Tested++
		}
	}
}

// between returns the bounds of a quantile of latencies. They are equal if the run has no bounds.
func between(f *stats.Func, q float64) (low, high int64) {
	at := f.Latency.Quantile(q)
	if f.Bounds == nil {
		return at, at
	}
	return min(f.Bounds.Low.Quantile(q), at), max(f.Bounds.High.Quantile(q), at)
}

// slower returns the probability that a call of now takes longer than a call of old. Calls in the same bucket count half.
func slower(old, now *stats.Histogram) float64 {
	calls := make(map[int64][2]float64) // the calls of old and now, by latency
	for side, h := range [...]*stats.Histogram{old, now} {
		for at, n := range h.All {
			both := calls[at]
			both[side] = float64(n)
			calls[at] = both
		}
	}
	var before, pairs float64 // the calls of old so far, and the pairs of calls of which the call of now is slower
	for _, at := range slices.Sorted(maps.Keys(calls)) {
		both := calls[at]
		pairs += both[1] * (before + both[0]/2)
		before += both[0]
	}
	return pairs / (float64(old.Count()) * float64(now.Count()))
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
// differ. judge estimates how much more, from the runs of the function and from the runs of all functions, and uses
// the larger estimate.
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

// unknown is the Change of an aspect that was not tested.
var unknown = Change{Old: math.NaN(), New: math.NaN(), P: 1}

// p returns the p-value if the variance among runs of one side is spread times the variance by chance. If spread was
// estimated from few runs (df is at most 3), the estimate is uncertain. z then has Student's distribution, here in the
// approximation of Wallace (1959), else the normal distribution.
func (c *Change) p(spread float64) float64 {
	t := math.Abs(c.z) / math.Sqrt(spread)
	if spread > 1 && c.df > 0 && c.df <= 3 {
		t = (8*c.df + 1) / (8*c.df + 3) * math.Sqrt(c.df*math.Log1p(t*t/c.df))
	}
	return math.Erfc(t / math.Sqrt2)
}

// deviations returns by how many standard deviations a number differs from its expected value; off is their
// difference. The number is the first cell of a table whose rows and columns have fixed sums, so the next cell differs
// by as much in the other direction, and so on. expected are the expected values of all cells. The result is the root
// of the likelihood ratio, whose distribution is nearly normal. The number is first moved by one toward its expected
// value. Then no p-value is below the exact p-value, however small the numbers are (Zubkov and Serov 2012).
func deviations(off float64, expected ...float64) float64 {
	moved := math.Copysign(max(math.Abs(off)-1, 0), off)
	var ratio float64
	for i, want := range expected {
		by := moved * float64(1-i%2*2)
		if number := want + by; number > 0 { // rounding of large numbers may leave less
			ratio += number * math.Log1p(by/want)
		}
	}
	return math.Copysign(math.Sqrt(2*max(ratio, 0)), off)
}

// shares tests whether the share of calls with a property is the same on both sides. count returns the number
// of a run's calls with the property, and the number of all its calls.
func shares(sides [2][]stats.Func, count func(*stats.Func) (having, all float64)) Change {
	c := unknown
	var have, all [2]float64
	for i, runs := range sides {
		for k := range runs {
			n, number := count(&runs[k])
			have[i] += n
			all[i] += number
		}
		share := have[i] / all[i]
		if !(share > 0 && share < 1) {
			continue
		}
		c.df--
		for k := range runs {
			if n, number := count(&runs[k]); number > 0 {
				off := n - share*number
				c.within += off * off / (number * share * (1 - share))
				c.df++
			}
		}
	}
	if all[0] == 0 || all[1] == 0 {
		return unknown
	}
	c.Tested, c.Old, c.New = true, have[0]/all[0], have[1]/all[1]
	some, number := have[0]+have[1], all[0]+all[1]
	if some == 0 || some == number {
		return c
	}
	expected := func(row, side float64) float64 { return row * side / number }
	old, rest := expected(some, all[0]), number-some
	c.z = deviations(have[0]-old, old, expected(some, all[1]), expected(rest, all[1]), expected(rest, all[0]))
	return c
}
