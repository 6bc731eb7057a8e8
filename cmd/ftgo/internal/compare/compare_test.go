package compare

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
)

var all = []Aspect{Calls, Errors, Latency, Tail}

// world makes runs: what functions do, and by chance.
type world struct{ *rand.Rand }

func newWorld(seed uint64) world { return world{rand.New(rand.NewPCG(18, seed))} }

// poisson is how many calls there are where so many are expected.
func (w world) poisson(mean float64) uint64 {
	return uint64(max(math.Round(mean+math.Sqrt(mean)*w.NormFloat64()), 0))
}

// run is one of ten seconds, of about so many calls, whose latencies are drawn.
func (w world) run(calls float64, latency func() float64) stats.Func {
	s := stats.Func{Seconds: 10, Calls: w.poisson(calls), ReturnsErrors: true, Latency: &stats.Histogram{}}
	s.Completed = s.Calls
	for range s.Calls {
		s.Latency.Record(int64(latency()))
		if w.Float64() < 0.02 {
			s.Errors++
		}
	}
	return s
}

// logNormal are latencies with a median in ns, whose logarithm has a standard deviation of spread.
func (w world) logNormal(median, spread float64) func() float64 {
	return func() float64 { return median * math.Exp(spread*w.NormFloat64()) }
}

// TestFivePercent: of 200 functions with 1,500 calls each, whose latencies' logarithm has a standard deviation of
// 0.17 (90 of 100 take at most 1.24 times the median), one that takes 5% longer is found in 19 of 20 comparisons,
// and at most 1% of the others are called changed. With a spread of 0.5, that takes 13,000 calls.
func TestFivePercent(t *testing.T) {
	for _, test := range []struct {
		spread, calls   float64
		functions, runs int
	}{{0.17, 1500, 200, 20}, {0.5, 13_000, 20, 20}} {
		found, falsely, unchanged := 0, 0, 0
		for seed := range test.runs {
			w := newWorld(uint64(seed))
			var pairs []Function
			for i := range test.functions {
				median := math.Exp(7 + 13*float64(i)/float64(test.functions)) // from 1 µs to half a second
				p := Function{Name: fmt.Sprint("f", i)}
				p.Side[0] = []stats.Func{w.run(test.calls, w.logNormal(median, test.spread))}
				if i == test.functions/3 {
					median *= 1.05
				}
				p.Side[1] = []stats.Func{w.run(test.calls, w.logNormal(median, test.spread))}
				pairs = append(pairs, p)
			}
			for i, f := range Compare(pairs, all, 0.01) {
				changed := f.Name == fmt.Sprint("f", test.functions/3)
				switch {
				case changed && f.Changes[Latency].Changed && f.Slower > 0.5:
					found++
				case !changed:
					unchanged++
					if f.Changed {
						falsely++
						t.Logf("seed %d: %s is called changed: %+v", seed, f.Name, f.Changes)
					}
				}
				if changed && f.Changed && i > falsely {
					t.Errorf("seed %d: it is line %d", seed, i)
				}
			}
		}
		t.Logf("spread %g, %g calls: found %d of %d, %d of %d falsely", test.spread, test.calls, found, test.runs, falsely, unchanged)
		if found < test.runs*19/20 || falsely*100 > unchanged {
			t.Errorf("spread %g, %g calls: found %d of %d, %d of %d falsely", test.spread, test.calls, found, test.runs, falsely, unchanged)
		}
	}
}

// TestUnchanged: of functions that have not changed, at most 1% is called so by any test alone, whatever
// latencies look like and however differently often each side was seen. No correction for many functions
// hides it here: each is compared alone.
func TestUnchanged(t *testing.T) {
	for _, test := range []struct {
		scenario string
		calls    [2]float64
		latency  func(w world) func() float64
	}{
		{"wide", [2]float64{1000, 1000}, func(w world) func() float64 { return w.logNormal(1e5, 1.5) }},
		{"few of many", [2]float64{10000, 100}, func(w world) func() float64 { return w.logNormal(1e5, 0.5) }},
		{"very few", [2]float64{20, 20}, func(w world) func() float64 { return w.logNormal(1e5, 0.5) }},
		{"short", [2]float64{1000, 300}, func(w world) func() float64 { return w.logNormal(2, 0.5) }},
		{"nearly all the same", [2]float64{3000, 200}, func(w world) func() float64 {
			return func() float64 {
				if w.Float64() < 0.03 {
					return 1e6
				}
				return 50
			}
		}},
		{"two ways", [2]float64{500, 1500}, func(w world) func() float64 {
			return func() float64 {
				if w.Float64() < 0.2 {
					return 1e6 * math.Exp(w.NormFloat64())
				}
				return 1e3 * math.Exp(0.1*w.NormFloat64())
			}
		}},
	} {
		const number = 3000
		var changed [Aspects]int
		w := newWorld(7)
		for range number {
			p := Function{Side: [2][]stats.Func{{w.run(test.calls[0], test.latency(w))}, {w.run(test.calls[1], test.latency(w))}}}
			p.Side[0][0].Seconds = 10 * test.calls[0] / test.calls[1]
			for a, c := range Compare([]Function{p}, all, 0.01)[0].Changes {
				if c.Tested && c.P <= 0.01 {
					changed[a]++
				}
			}
		}
		for a, n := range changed {
			// 30 are expected at most; by chance there are 46 in one of 500 comparisons.
			if n > 46 {
				t.Errorf("%s: %s: %d of %d", test.scenario, Names[a], n, number)
			}
		}
		t.Logf("%s: %v of %d", test.scenario, changed, number)
	}
}

// TestRunsDiffer: where runs of one side differ by more than chance, as hosts do, that is not taken for a
// change; and a change that is larger is found all the same.
func TestRunsDiffer(t *testing.T) {
	falsely, found := 0, 0
	const functions, rounds = 100, 20
	for seed := range rounds {
		w := newWorld(uint64(seed))
		var pairs []Function
		for i := range functions {
			p := Function{Name: fmt.Sprint("f", i)}
			for side := range p.Side {
				for range 4 {
					median, calls := 1e5*math.Exp(0.05*w.NormFloat64()), 500*math.Exp(0.1*w.NormFloat64())
					if i == 7 && side == 1 {
						median *= 1.5
					}
					p.Side[side] = append(p.Side[side], w.run(calls, w.logNormal(median, 0.2)))
				}
			}
			pairs = append(pairs, p)
		}
		for _, f := range Compare(pairs, all, 0.01) {
			switch {
			case f.Name == "f7" && f.Changes[Latency].Changed:
				found++
			case f.Name != "f7" && f.Changed:
				falsely++
			}
		}
	}
	t.Logf("found %d of %d, %d of %d falsely", found, rounds, falsely, rounds*(functions-1))
	if found < rounds*19/20 || falsely*100 > rounds*(functions-1) {
		t.Errorf("found %d of %d, %d of %d falsely", found, rounds, falsely, rounds*(functions-1))
	}
}

// TestFew: the p-value of few calls is at least the exact one, and at most the exact one of a number that is one
// nearer to the expected one.
func TestFew(t *testing.T) {
	test := func(a Aspect, old, now stats.Func) Change {
		f := Function{Side: [2][]stats.Func{{old}, {now}}}
		f.measure([]Aspect{a})
		return f.Changes[a]
	}
	choose := func(n, k uint64) float64 { return float64(new(big.Int).Binomial(int64(n), int64(k)).Uint64()) }
	// exact is twice the chance of k or more, up to 1.
	exact := func(k, most uint64, chance func(k uint64) float64) (p float64) {
		for ; k <= most; k++ {
			p += 2 * chance(k)
		}
		return min(p, 1)
	}
	check := func(c Change, k, most uint64, chance func(k uint64) float64) {
		t.Helper()
		low, high := exact(k, most, chance), exact(k-1, most, chance)
		if p := c.p(1); c.z > 0 && !(low*0.999 <= p && p <= high*1.001) {
			t.Errorf("%+v: p %g, which is from %g to %g", c, p, low, high)
		}
	}
	for _, seconds := range []float64{0.1, 1, 10, 90} {
		for n := uint64(1); n < 30; n++ {
			for k := uint64(1); k <= n; k++ {
				q := seconds / (seconds + 10)
				check(test(Calls, stats.Func{Calls: k, Seconds: seconds}, stats.Func{Calls: n - k, Seconds: 10}), k, n,
					func(k uint64) float64 { return choose(n, k) * math.Pow(q, float64(k)) * math.Pow(1-q, float64(n-k)) })
			}
		}
	}
	failed := func(n, all uint64) stats.Func { return stats.Func{Errors: n, Completed: all, ReturnsErrors: true} }
	for _, all := range [][2]uint64{{4, 4}, {5, 40}, {12, 12}, {40, 5}, {20, 30}} {
		for k := range all[0] + 1 {
			for other := range all[1] + 1 {
				some := k + other
				check(test(Errors, failed(k, all[0]), failed(other, all[1])), k, min(some, all[0]),
					func(k uint64) float64 {
						return choose(some, k) * choose(all[0]+all[1]-some, all[0]-k) / choose(all[0]+all[1], all[0])
					})
			}
		}
	}
	if c := test(Errors, failed(0, 5), failed(0, 9)); !c.Tested || c.p(1) != 1 {
		t.Errorf("nothing fails: %+v", c)
	}
	if c := test(Calls, stats.Func{Seconds: 10}, stats.Func{Seconds: 10}); c.Tested || c.Old != 0 {
		t.Errorf("nothing is called: %+v", c)
	}
	if c := test(Calls, stats.Func{Calls: 1 << 63, Seconds: 1}, stats.Func{Calls: 1<<63 - 1<<40, Seconds: 1}); math.Abs(c.z-(1<<39)/math.Sqrt(1<<62)) > 1 {
		t.Errorf("many calls: %+v", c)
	}
	taken := func(ns ...int64) *stats.Histogram {
		h := &stats.Histogram{}
		for _, n := range ns {
			h.Record(n)
		}
		return h
	}
	if p := slower(taken(1, 2, 2, 3, 3, 3, 4), taken(2, 3, 4, 4, 5, 5, 6)); p != 40.5/49 {
		t.Errorf("%v of the pairs are slower", p)
	}
	// Student's distribution gives 0.0101, 0.01 and 0.01; the approximation is never far below.
	for df, z := range map[float64]float64{1: 63, 2: 9.925, 3: 5.841} {
		if p := (&Change{z: 2 * z, df: df}).p(4); p < 0.0099 || p > 0.02 {
			t.Errorf("p-value of %v with %v degrees of freedom: %v", z, df, p)
		}
	}
}

// TestFarOff: however unlikely a difference is by chance alone, it is compared with how much runs differ.
func TestFarOff(t *testing.T) {
	for _, c := range []struct {
		scenario string
		calls    [2][]uint64
		changed  bool
	}{
		{"as runs differ", [2][]uint64{{5000, 7000, 4500, 6500, 6000}, {7500, 5500, 7000, 6250, 6500}}, false},
		{"more than runs differ", [2][]uint64{{500, 700, 450, 650, 600}, {7500, 5500, 7000, 6250, 6500}}, true},
		{"two runs each", [2][]uint64{{1000, 1040}, {9000, 9300}}, true},
		{"three runs", [2][]uint64{{1000, 1040}, {9000, 9300, 9600}}, true},
	} {
		var p Function
		for side, runs := range c.calls {
			for _, calls := range runs {
				p.Side[side] = append(p.Side[side], stats.Func{Seconds: 1, Calls: calls})
			}
		}
		if f := Compare([]Function{p}, []Aspect{Calls}, 0.01)[0]; f.Changed != c.changed || !(f.P >= 0 && f.P <= 1) {
			t.Errorf("%s: changed %v, p %v, %+v", c.scenario, f.Changed, f.P, f.Changes[Calls])
		}
	}
}

// TestUnjudged: a run whose results nobody looked at tells nothing of errors, rather than that there were none.
func TestUnjudged(t *testing.T) {
	judged, not := stats.Func{Seconds: 1, Calls: 1000, Completed: 1000, Errors: 100, ReturnsErrors: true}, stats.Func{Seconds: 1, Calls: 1000, Completed: 1000}
	for _, c := range []struct {
		old    []stats.Func
		tested bool
	}{{[]stats.Func{judged, not, not}, true}, {[]stats.Func{not}, false}} {
		f := Compare([]Function{{Name: "f", Side: [2][]stats.Func{c.old, {judged, judged}}}}, []Aspect{Errors}, 0.01)[0]
		e := f.Changes[Errors]
		if f.Changed || e.Tested != c.tested || c.tested && (e.Old != 0.1 || e.New != 0.1 || e.P != 1) || !c.tested && !math.IsNaN(e.Old) {
			t.Errorf("%+v: %+v", c.old, e)
		}
	}
}

// TestOrder: what has changed most comes first; what was not there before is most of all.
func TestOrder(t *testing.T) {
	w := newWorld(3)
	pair := func(name string, calls [2]float64, median [2]float64) Function {
		return Function{Name: name, Side: [2][]stats.Func{{w.run(calls[0], w.logNormal(median[0], 0.3))}, {w.run(calls[1], w.logNormal(median[1], 0.3))}}}
	}
	got := ""
	for _, f := range Compare([]Function{
		pair("same", [2]float64{1000, 1000}, [2]float64{1e5, 1e5}),
		pair("never", [2]float64{0, 0}, [2]float64{1e5, 1e5}),
		pair("twice", [2]float64{1000, 2000}, [2]float64{1e5, 1e5}),
		pair("new", [2]float64{0, 300}, [2]float64{1e5, 1e5}),
		pair("slow", [2]float64{1000, 1000}, [2]float64{1e5, 1e6}),
	}, all, 0.01) {
		got += fmt.Sprint(f.Name, " ", f.Changed, " ")
	}
	if want := "new true slow true twice true same false never false "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBounded: latencies that differ by less than what is known of the cost of probes are not called changed.
func TestBounded(t *testing.T) {
	at := func(ns int64) *stats.Histogram {
		h := &stats.Histogram{}
		for range 1000 {
			h.Record(ns)
		}
		return h
	}
	seen := func(low, ns, high int64) []stats.Func {
		b := &stats.Bounds{Low: *at(low), High: *at(high)}
		return []stats.Func{{Seconds: 1, Calls: 1000, Completed: 1000, Latency: at(ns), Bounds: b}}
	}
	for _, c := range []struct {
		name     string
		old, now []stats.Func
		changed  bool
	}{
		{"known exactly", seen(100, 100, 100), seen(200, 200, 200), true},
		{"bounds meet", seen(0, 100, 300), seen(100, 200, 400), false},
		{"bounds are apart", seen(0, 100, 300), seen(900, 1000, 1200), true},
	} {
		f := Compare([]Function{{Name: "f", Side: [2][]stats.Func{c.old, c.now}}}, []Aspect{Latency, Tail}, 0.01)[0]
		if f.Changed != c.changed || !f.Changes[Latency].Tested {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
