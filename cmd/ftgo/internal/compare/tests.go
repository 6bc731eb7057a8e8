package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/ftgo/ftgo/internal/stats"
)

// unknown is the Change of an aspect that was not tested.
var unknown = Change{Old: math.NaN(), New: math.NaN(), P: 1}

// p returns the p-value if the variance among runs of one side is spread times the variance by chance. If spread was
// estimated from few runs (df is at most 3), the estimate is uncertain. z then has Student's distribution, else the
// normal distribution.
func (c *Change) p(spread float64) float64 {
	t := math.Abs(c.z) / math.Sqrt(spread)
	switch third := t / math.Sqrt(3); {
	case spread == 1 || c.df > 3 || c.df == 0:
		return math.Erfc(t / math.Sqrt2)
	case c.df == 1:
		return 1 - 2/math.Pi*math.Atan(t)
	case c.df == 2:
		return 1 - t/math.Sqrt(2+t*t)
	default:
		return 1 - 2/math.Pi*(third/(1+third*third)+math.Atan(third))
	}
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

// rates tests whether both sides have the same number of calls per second. Without a change, the number of calls
// of a side has a binomial distribution, with the side's share of the time as probability.
func rates(sides [2][]stats.Func) Change {
	c := unknown
	var calls [2]uint64
	var seconds [2]float64
	for i, runs := range sides {
		for _, run := range runs {
			calls[i] += run.Calls
			seconds[i] += run.Seconds
		}
		for _, run := range runs {
			if want := float64(calls[i]) * run.Seconds / seconds[i]; want > 0 {
				c.within += square(float64(run.Calls)-want) / want
			}
		}
		if calls[i] > 0 {
			c.df += float64(len(runs) - 1)
		}
	}
	all, time := float64(calls[0])+float64(calls[1]), seconds[0]+seconds[1]
	old, now := all*(seconds[0]/time), all*(seconds[1]/time)
	if !(old > 0 && now > 0) { // no calls, or the run of one side was too short
		c.within, c.df = 0, 0
	} else {
		c.Tested, c.z = true, deviations(float64(calls[0])-old, old, now)
	}
	c.Old, c.New = float64(calls[0])/seconds[0], float64(calls[1])/seconds[1]
	return c
}

// shares tests whether the share of calls with a property is the same on both sides. count returns the number
// of a run's calls with the property, and the number of all its calls.
func shares(sides [2][]stats.Func, count func(stats.Func) (having, all uint64)) Change {
	c := unknown
	var have, all [2]float64
	for i, runs := range sides {
		for _, run := range runs {
			n, number := count(run)
			have[i] += float64(n)
			all[i] += float64(number)
		}
		share := have[i] / all[i]
		if share > 0 && share < 1 {
			c.df--
			for _, run := range runs {
				if n, number := count(run); number > 0 {
					c.within += square(float64(n)-share*float64(number)) / (float64(number) * share * (1 - share))
					c.df++
				}
			}
		}
	}
	some, number := have[0]+have[1], all[0]+all[1]
	if all[0] == 0 || all[1] == 0 {
		return unknown
	}
	c.Tested, c.Old, c.New = true, have[0]/all[0], have[1]/all[1]
	if some == 0 || some == number {
		return c
	}
	expected := func(row, side float64) float64 { return row * side / number }
	old, rest := expected(some, all[0]), number-some
	c.z = deviations(have[0]-old, old, expected(some, all[1]), expected(rest, all[1]), expected(rest, all[0]))
	return c
}

func square(x float64) float64 { return x * x }

// minRanked is the number of calls outside of the largest bucket that each side needs, so that the sum of ranks is
// nearly normal.
const minRanked = 10

// ranks tests whether calls of one side take longer than calls of the other, by the test of Mann and Whitney.
// Calls in the same bucket are ties. The test of Kruskal and Wallis compares the runs of one side. slower is the
// probability that a call of the second side takes longer.
func ranks(sides [2][]stats.Func) (c Change, slower float64) {
	c = unknown
	var all [2]stats.Histogram
	for i, runs := range sides {
		var each []*stats.Histogram
		for _, run := range runs {
			if counts(&run) > 0 {
				each = append(each, run.Latency)
				all[i].Add(run.Latency)
			}
		}
		if len(each) > 1 {
			chi, _, _, _ := kruskal(each...)
			c.within, c.df = c.within+chi, c.df+float64(len(each)-1)
		}
	}
	chi, numbers, sums, most := kruskal(&all[0], &all[1])
	n, m := numbers[0], numbers[1]
	slower = (sums[1] - m*(m+1)/2) / (n * m)
	c.Tested = min(n, m)*(1-most/(n+m)) >= minRanked
	c.z = math.Copysign(math.Sqrt(chi), slower-0.5)
	return c, slower
}

// kruskal returns Kruskal and Wallis's H of groups, corrected for ties: the weighted squares of the distances of
// their mean ranks from the mean of all. For two groups its root is Mann and Whitney's statistic. It also returns
// the number of calls of each group, the sum of their ranks, and the calls of the largest bucket.
func kruskal(groups ...*stats.Histogram) (h float64, numbers, sums []float64, most float64) {
	calls := make(map[int64][]float64) // the number of calls of each group, by latency
	for g, group := range groups {
		for at, count := range group.All {
			if calls[at] == nil {
				calls[at] = make([]float64, len(groups))
			}
			calls[at][g] = float64(count)
		}
	}
	numbers, sums = make([]float64, len(groups)), make([]float64, len(groups))
	var all, ties float64
	for _, at := range slices.Sorted(maps.Keys(calls)) {
		var here float64
		for _, n := range calls[at] {
			here += n
		}
		rank := all + (here+1)/2
		for g, n := range calls[at] {
			numbers[g] += n
			sums[g] += n * rank
		}
		all += here
		ties += here * (here*here - 1)
		most = max(most, here)
	}
	for g, n := range numbers {
		h += n * square(sums[g]/n-(all+1)/2)
	}
	if rest := 1 - ties/(all*(all*all-1)); rest > 0 && all > 1 {
		return 12 * h / (all * (all + 1) * rest), numbers, sums, most
	}
	return 0, numbers, sums, most
}
