package compare

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

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
