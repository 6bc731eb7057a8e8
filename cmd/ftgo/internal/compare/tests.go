package compare

import (
	"cmp"
	"math"
	"slices"
)

// statistic is what a test has found.
type statistic struct {
	known bool
	// z is how many standard deviations the sides differ by, if nothing but chance is at work.
	z float64
	// within is how much the runs of either side differ among each other: by chance alone its mean is
	// df, which is how many runs there are beyond the first of each side.
	within, df float64
}

// p is how likely a difference is as large, where runs of one side differ spread times as much as by
// chance. From as few runs as up to three beyond the first ones that is not known well: then z has
// Student's distribution.
func (s *statistic) p(spread float64) float64 {
	t := math.Abs(s.z) / math.Sqrt(spread)
	switch third := t / math.Sqrt(3); {
	case spread == 1 || s.df > 3 || s.df == 0:
		return math.Erfc(t / math.Sqrt2)
	case s.df == 1:
		return 1 - 2/math.Pi*math.Atan(t)
	case s.df == 2:
		return 1 - t/math.Sqrt(2+t*t)
	default:
		return 1 - 2/math.Pi*(third/(1+third*third)+math.Atan(third))
	}
}

// deviations is a p-value as standard deviations. It is given by its logarithm: by how much more than chance runs
// differ, these are divided by, and so they matter where the p-value is no number any more.
func deviations(log float64) float64 {
	if log > -20 {
		return math.Sqrt2 * math.Erfcinv(math.Exp(min(log, 0)))
	}
	// Erfcinv takes its argument from 1, which leaves nothing of it. This solves what Erfc is like for so large ones.
	x := math.Sqrt(-log)
	for range 10 {
		square := x * x
		x = math.Sqrt(-log - math.Log(x*math.SqrtPi) + math.Log1p(-1/(2*square)+3/(4*square*square)))
	}
	return math.Sqrt2 * x
}

// rates tests whether calls are as frequent: of all of them, those of a side are so many as its time has
// it, as of a coin that is thrown so often (Przyborowski and Wilenski 1940).
func rates(sides [2][]Seen) (s statistic) {
	var calls [2]uint64
	var seconds [2]float64
	for i, runs := range sides {
		for _, run := range runs {
			calls[i] += run.Calls
			seconds[i] += run.Seconds
		}
		for _, run := range runs {
			if want := float64(calls[i]) * run.Seconds / seconds[i]; want > 0 {
				s.within += square(float64(run.Calls)-want) / want
			}
		}
		if calls[i] > 0 {
			s.df += float64(len(runs) - 1)
		}
	}
	chance := seconds[0] / (seconds[0] + seconds[1])
	if calls[0]+calls[1] == 0 || !(chance > 0 && chance < 1) { // one took no time beside the other
		return statistic{}
	}
	s.known, s.z = true, binomial(calls[0], calls[0]+calls[1], chance)
	return s
}

// binomial is by how many standard deviations k of n is off the mean, for a chance of q each.
func binomial(k, n uint64, q float64) float64 {
	mean := float64(n) * q
	deviation := math.Sqrt(mean * (1 - q))
	if n > many && min(mean, float64(n)-mean) > enough {
		return (float64(k) - mean) / deviation
	}
	log := func(k float64) float64 {
		return choose(float64(n), k) + k*math.Log(q) + (float64(n)-k)*math.Log1p(-q)
	}
	return signed(float64(k), mean, 0, float64(n), log)
}

// From so many on, with at least so many expected either way, the normal distribution is as good as the
// exact one.
const many, enough = 100_000, 1000

// shares tests whether as large a share of calls has something: Fisher's exact test.
func shares(sides [2][]Seen, of func(Seen) (of, all uint64)) (s statistic) {
	var have, all [2]float64
	for i, runs := range sides {
		for _, run := range runs {
			n, number := of(run)
			have[i] += float64(n)
			all[i] += float64(number)
		}
		share := have[i] / all[i]
		if share > 0 && share < 1 {
			s.df--
			for _, run := range runs {
				if n, number := of(run); number > 0 {
					s.within += square(float64(n)-share*float64(number)) / (float64(number) * share * (1 - share))
					s.df++
				}
			}
		}
	}
	some, number := have[0]+have[1], all[0]+all[1]
	if all[0] == 0 || all[1] == 0 {
		return statistic{}
	}
	s.known = true
	if some == 0 || some == number {
		return s
	}
	mean := some * all[0] / number
	deviation := math.Sqrt(mean * (1 - some/number) * all[1] / (number - 1))
	if number > many && square(deviation) > enough {
		s.z = (have[0] - mean) / deviation
		return s
	}
	log := func(k float64) float64 {
		return choose(some, k) + choose(number-some, all[0]-k) - choose(number, all[0])
	}
	s.z = signed(have[0], mean, max(0, some-all[1]), min(some, all[0]), log)
	return s
}

// signed is the p-value of k as standard deviations from the mean, for a distribution from least to most of
// which log is the logarithm: twice the chance of what is as far off on its side.
func signed(k, mean, least, most float64, log func(k float64) float64) float64 {
	step, sign := 1.0, 1.0
	if k < mean {
		step, sign = -1, -1
	}
	k = max(least, min(k, most)) // where large numbers are rounded
	first, tail := log(k), 0.0
	for ; k >= least && k <= most; k += step {
		term := math.Exp(log(k) - first) // each may be too small for a number
		if tail += term; !(term > tail*1e-16) {
			break
		}
	}
	return sign * deviations(first+math.Log(2*tail))
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

func square(x float64) float64 { return x * x }

// fewest is how many calls of either side must be apart from the most frequent latency for ranks to be
// nearly normal.
const fewest = 10

// ranks tests whether calls of one side take longer than those of the other: Mann and Whitney's test, whose
// ties are the calls of one bucket. Runs of one side are compared by Kruskal and Wallis's. slower is how
// likely a call of the second side takes longer.
func ranks(sides [2][]Seen) (s statistic, slower float64) {
	of := func(runs []Seen) (h [][]bucket) {
		for _, run := range runs {
			if counts(&run) > 0 {
				h = append(h, bucketsOf(run))
			}
		}
		return h
	}
	old, now := of(sides[0]), of(sides[1])
	for _, runs := range [][][]bucket{old, now} {
		if len(runs) > 1 {
			chi, _ := kruskal(runs)
			s.within, s.df = s.within+chi, s.df+float64(len(runs)-1)
		}
	}
	a, b := joined(old), joined(now)
	chi, of2 := kruskal([][]bucket{a, b})
	n, m := of2.numbers[0], of2.numbers[1]
	slower = (of2.sums[1] - m*(m+1)/2) / (n * m)
	s.known = min(n, m)*(1-of2.most/(n+m)) >= fewest
	s.z = math.Copysign(math.Sqrt(chi), slower-0.5)
	return s, slower
}

// bucket is how many calls took so long.
type bucket struct{ at, count float64 }

func bucketsOf(s Seen) (of []bucket) {
	for at, count := range s.Latency.All {
		of = append(of, bucket{float64(at), float64(count)})
	}
	return of
}

// joined are the buckets of several runs.
func joined(runs [][]bucket) []bucket {
	all := slices.Concat(runs...)
	slices.SortFunc(all, func(a, b bucket) int { return cmp.Compare(a.at, b.at) })
	var out []bucket
	for _, b := range all {
		if last := len(out) - 1; last >= 0 && out[last].at == b.at {
			out[last].count += b.count
			continue
		}
		out = append(out, b)
	}
	return out
}

// ranked is what groups have when all calls stand in one row, the shortest first.
type ranked struct {
	numbers, sums []float64 // calls, and their ranks added up
	most          float64   // calls in the largest bucket
}

// kruskal is Kruskal and Wallis's H of groups, corrected for ties: the squares of how far their mean ranks
// are from that of all. Of two groups its root is Mann and Whitney's.
func kruskal(groups [][]bucket) (h float64, of ranked) {
	of.numbers, of.sums = make([]float64, len(groups)), make([]float64, len(groups))
	at := make([]int, len(groups))
	var below, ties float64
	for {
		least := math.Inf(1)
		for g, i := range at {
			if i < len(groups[g]) {
				least = min(least, groups[g][i].at)
			}
		}
		if math.IsInf(least, 1) {
			break
		}
		var here float64
		for g, i := range at {
			if i < len(groups[g]) && groups[g][i].at == least {
				here += groups[g][i].count
			}
		}
		rank := below + (here+1)/2
		for g, i := range at {
			if i < len(groups[g]) && groups[g][i].at == least {
				n := groups[g][i].count
				of.numbers[g], of.sums[g] = of.numbers[g]+n, of.sums[g]+n*rank
				at[g]++
			}
		}
		below += here
		ties += here * (here*here - 1)
		of.most = max(of.most, here)
	}
	all := below
	for g, n := range of.numbers {
		h += n * square(of.sums[g]/n-(all+1)/2)
	}
	if rest := 1 - ties/(all*(all*all-1)); rest > 0 && all > 1 {
		return 12 * h / (all * (all + 1) * rest), of
	}
	return 0, of
}
