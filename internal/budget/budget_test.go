package budget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// program simulates a program on one CPU. It calls functions at random, at the given rates per second of its own time.
type program struct {
	rates []float64
	cost  float64 // cost of the probes of a call, in seconds
	rand  *rand.Rand
	calls []float64 // number of calls of each function so far
}

// run simulates a CPU time in which some functions are watched. It returns the program's own time and the watched calls.
func (p *program) run(cpu float64, watched ...int) (own float64, calls map[int]int) {
	load := 0.0
	for _, i := range watched {
		load += p.rates[i] * p.cost
	}
	own, calls = cpu/(1+load), make(map[int]int)
	for i, rate := range p.rates {
		n := max(math.Round(rate*own+p.rand.NormFloat64()*math.Sqrt(rate*own)), 0)
		p.calls[i] += n
		if slices.Contains(watched, i) && n > 0 {
			calls[i] = int(n)
		}
	}
	return own, calls
}

// about returns a cost with bounds: 25% less, and 50% more.
func about(cost float64) Range { return Range{cost * 0.75, cost, cost * 1.5} }

// TestSpendLittle checks that an idle program counts as a tenth of a CPU.
func TestSpendLittle(t *testing.T) {
	for cost, inDebt := range map[float64]bool{0.0009: false, 0.0011: true} {
		b := Budget{Share: 0.01}
		if b.Spend(1, 0.001, cost); b.InDebt() != inDebt {
			t.Errorf("probes that took %v s of a second exceed the budget: %v", cost, !inDebt)
		}
	}
}

// TestEstimates checks that the bounds of all functions hold in 19 of 20 runs, although hits cost a fifth more than
// measured, and that the bounds are close.
func TestEstimates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name  string
		rates []float64
		width float64 // limit for the relative error of the first function's bounds; 0 for none
	}{
		{"forty alike", slices.Repeat([]float64{170e3}, 40), 0.5},
		{"one hot among others", append(slices.Repeat([]float64{20e3}, 9), 5e6), 0.95},
		{"one", []float64{300e3}, 0.5},
		{"one that costs more than it does", []float64{20e6}, 0},
		{"one seldom called", append([]float64{2}, slices.Repeat([]float64{170e3}, 10)...), 0},
	} {
		const runs = 200
		held := 0
		for range runs {
			p := &program{rates: test.rates, cost: 600e-9 * 1.2, rand: random, calls: make([]float64, len(test.rates))}
			var all []int
			var e Estimates
			seen := make([]uint64, len(test.rates))
			for i := range test.rates {
				all = append(all, i)
				e.Join(i)
			}
			for range 6 {
				own, _ := p.run(0.3)
				e.AddUnwatched(Range{own, own, own}, 1, 1)
				for _, light := range [][]int{nil, all[:min((len(all)+2)/3, 3)]} {
					watched, cpu := all, 0.02
					if light != nil {
						watched, cpu = light, 0.05
					}
					_, calls := p.run(cpu, watched...)
					n := 0
					for i, c := range calls {
						n += c
						seen[i] += uint64(c)
					}
					e.AddStretch(Stretch{Own: Less(cpu, about(float64(n)*600e-9)), Calls: calls, Light: light}, 1, 1)
				}
			}
			ok := true
			for i := range all {
				unseen := e.Unseen(i, seen[i])
				truth := p.calls[i] - float64(seen[i])
				ok = ok && truth >= unseen.Low-1 && truth <= unseen.High+1
				if i == 0 && test.width > 0 && (unseen.High > truth*(1+test.width) || unseen.Low < truth*(1-test.width)) {
					t.Errorf("%s: %v where %v is true", test.name, unseen, truth)
				}
			}
			if ok {
				held++
			}
		}
		if held < runs*19/20 {
			t.Errorf("%s: the bounds held in %d of %d runs", test.name, held, runs)
		}
	}
}

// TestEstimatesPeriods checks that a change of a rate leaves earlier estimates as they are, and that a function that is
// watched again is counted exactly.
func TestEstimatesPeriods(t *testing.T) {
	var e Estimates
	e.Join(7)
	for i := range 3 * maxStretches {
		calls := 100
		if i >= maxStretches {
			calls = 300
		}
		e.AddUnwatched(Range{1, 1, 1}, 1, 1)
		e.AddStretch(Stretch{Own: Range{0.1, 0.1, 0.1}, Calls: map[int]int{7: calls}}, 1, 1)
	}
	const want = maxStretches * (1000 + 2*3000)
	if got := e.Unseen(7, 0); math.Abs(got.Typical-want) > want/1e6 || got.Low > want || got.High < want {
		t.Errorf("%v, want %v", got, want)
	}
	e.Leave(7)
	e.AddUnwatched(Range{100, 100, 100}, 1, 1)
	if got := e.Unseen(7, 0); math.Abs(got.Typical-want) > want/1e6 || !e.WasSampled(7) || e.IsSampled(7) {
		t.Errorf("watched again: %v", got)
	}
	if e.WasSampled(8) {
		t.Error("a function that was watched all the time is sampled")
	}
}

// TestEstimatesPaces checks the estimates for a program that sleeps and works in turn, with different calls in each, and
// that is rarely watched while it works.
func TestEstimatesPaces(t *testing.T) {
	var e Estimates
	e.Join(1)
	e.Join(2)
	for i := range 20 {
		quiet := Range{0.004, 0.004, 0.004}
		e.AddUnwatched(quiet, 0.1, 0.004)
		e.AddStretch(Stretch{Own: quiet, Calls: map[int]int{1: 80}}, 0.1, 0.005)
		if i%4 == 0 {
			e.AddUnwatched(Range{0.2, 0.2, 0.2}, 0.2, 0.2)
			e.AddStretch(Stretch{Own: Range{0.002, 0.002, 0.002}, Calls: map[int]int{2: 2000}}, 0.05, 0.05)
		}
	}
	for fn, want := range map[int]float64{1: 20 * 80, 2: 5 * 200e3} {
		if got := e.Unseen(fn, 0); math.Abs(got.Typical-want) > want/1e6 || got.Low > want || got.High < want || got.High > 3*want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	for range 3 { // short bursts of work
		e.AddUnwatched(Range{0.004, 0.004, 0.004}, 0.1, 0.004)
		e.AddUnwatched(Range{0.01, 0.01, 0.01}, 0.011, 0.01)
	}
	if got := e.Unseen(1, 0); got.Typical > 23.1*80 {
		t.Errorf("%v, want %v", got, 23*80)
	}
	e.AddUnwatched(Range{40, 40, 40}, 5, 40) // a new pace, without stretches
	if got := e.Unseen(1, 0); !math.IsInf(got.High, 1) {
		t.Errorf("%v of a pace without a stretch", got)
	}
}

// TestEstimatesGap checks that the rate of a function is also assumed for a gap without a stretch.
func TestEstimatesGap(t *testing.T) {
	var e Estimates
	e.AddUnwatched(Range{8, 8, 8}, 1, 1)
	e.Join(1)
	e.AddUnwatched(Range{2, 2, 2}, 1, 1)
	e.Leave(1)
	e.AddUnwatched(Range{8, 8, 8}, 1, 1)
	if got := e.Unseen(1, 1600); got.Typical != 200 || got.Low != 0 || got.High < 2000 || got.High > 3000 {
		t.Errorf("%v", got)
	}
	if got := e.Unseen(1, 0); got.Typical != 0 || got.High <= 0 || got.High > 20 {
		t.Errorf("never called: %v", got)
	}
}

// TestSampleHot checks which functions are sampled: the expensive ones, and named ones last.
func TestSampleHot(t *testing.T) {
	for _, test := range []struct {
		name  string
		costs []float64 // seconds in one second of 1 CPU, half of it the program's own
		named []int
		share float64
		want  []int
	}{
		{"little", []float64{0.01, 0.02}, nil, 0.25, nil},
		{"one hot", []float64{0.01, 0.4, 0.02}, nil, 0.25, []int{1}},
		{"alike", []float64{0.2, 0.2, 0.2}, nil, 0.25, []int{0, 1, 2}},
		{"a named one", []float64{0.01, 0.01, 0.01, 0.5}, []int{2}, 0.1, []int{3, 1, 0}},
	} {
		b := Budget{Share: test.share, Funcs: make([]Func, len(test.costs))}
		all, calls := 0.0, make([]float64, len(test.costs))
		for i, c := range test.costs {
			calls[i] = 1e5 * c
			b.Watch(i)
			b.Funcs[i].Named = slices.Contains(test.named, i)
			all += c
		}
		b.Spend(1, 1, all)
		got := b.SampleHot(1, 1, calls, test.costs)
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) || !slices.Equal(b.Sampled(), test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestUnwatch checks that a function without probes is not hot, whatever its last hits have cost.
func TestUnwatch(t *testing.T) {
	b := Budget{Share: 0.25, Funcs: make([]Func, 2)}
	b.Watch(0)
	b.Watch(1)
	b.Unwatch(1)
	b.Spend(1, 1, 0.9)
	if hot := b.SampleHot(1, 1, []float64{1, 1}, []float64{0.45, 0.45}); !slices.Equal(hot, []int{0}) {
		t.Errorf("%v", hot)
	}
}

// TestIdle checks that a short burst of calls in an idle program does not make a function hot.
func TestIdle(t *testing.T) {
	b := Budget{Share: 0.25, Funcs: make([]Func, 1)}
	b.Watch(0)
	cost := []float64{0.015}
	b.Spend(0.1, 0.001, 0.015)
	if hot := b.SampleHot(0.1, 0.001, cost, cost); len(hot) != 0 {
		t.Error("hot")
	}
	b.Spend(0.1, 0.001, 0.030)
	if hot := b.SampleHot(0.1, 0.001, cost, cost); len(hot) != 1 {
		t.Error("not hot for good")
	}
}

// TestBudget checks that probes stay within the budget over a minute, whatever a stretch costs.
func TestBudget(t *testing.T) {
	for _, share := range []float64{0.01, 0.05, 0.25} {
		for _, busy := range []float64{0.05, 1, 8} { // CPUs
			b := Budget{Share: share, Funcs: make([]Func, 4), Counts: true, Times: true}
			for i := range b.Funcs {
				b.Funcs[i] = Func{Counted: 600e-9, Timed: 12e-6, rate: 4e5}
				b.Sample(i)
			}
			b.Funcs[3] = Func{Runtime: true, sampled: true}
			now, spent, stretches := 0.0, 0.0, map[Kind]int{}
			for now < 60 {
				p, ok := b.Next()
				if !ok {
					b.Spend(0.02, 0.02*busy, 0)
					now += 0.02
					continue
				}
				if len(p.Funcs) == 0 || (p.Kind != Light) != (len(p.Funcs) == len(b.Funcs)) || p.Kind == Light && slices.Contains(p.Funcs, 3) {
					t.Fatalf("%+v", p)
				}
				load := b.load(p.Funcs)
				if p.Kind == Time {
					load *= 20
				}
				cost := p.Seconds * busy * load / (1 + load) * 1.2
				b.Spend(p.Seconds, p.Seconds*busy, cost)
				b.SetCost(p, cost)
				now, spent = now+p.Seconds, spent+cost
				stretches[p.Kind]++
			}
			if allowed := share * max(busy, minCPUs) * now; spent > 1.1*allowed || spent < 0.3*allowed && busy > minCPUs {
				t.Errorf("%v of %v CPUs: %v s, allowed %v", share, busy, spent, allowed)
			}
			if len(stretches) != 3 || stretches[Count] < 3 {
				t.Errorf("%v of %v CPUs: stretches %v", share, busy, stretches)
			}
		}
	}
}

// TestQuiet checks that a function that is not hot any more is watched again after a time, which doubles.
func TestQuiet(t *testing.T) {
	b := Budget{Share: 0.25, Funcs: make([]Func, 1), Counts: true}
	b.Funcs[0] = Func{Counted: 1e-6, Timed: 1e-6}
	for _, wait := range []float64{2, 4} {
		b.AddStretch(0, 0, 0) // a program that does nothing
		b.Watch(0)
		b.Spend(1, 1, 0.9)
		if hot := b.SampleHot(1, 1, []float64{9e5}, []float64{0.9}); len(hot) != 1 {
			t.Fatal("not hot")
		}
		for range 20 {
			b.AddStretch(0, 0.1, 10)
		}
		if b.Spend(wait-0.1, 1, 0); len(b.Quiet()) != 0 {
			t.Errorf("watched again before %v s", wait)
		}
		if b.Spend(0.2, 1, 0); len(b.Quiet()) != 1 {
			t.Errorf("not watched again after %v s", wait)
		}
	}
}

// TestEstimatesFirst checks that the calls before the first stretch only give the ratios between functions. A function
// that is watched again before the first stretch keeps its rate.
func TestEstimatesFirst(t *testing.T) {
	var e Estimates
	e.AddUnwatched(Range{0, 0.001, 0.01}, 1, 1)
	e.Join(1)
	e.Join(2)
	e.AddFirst(map[int]int{1: 1000})
	e.AddUnwatched(Range{0.1, 0.1, 0.1}, 1, 1)
	e.Leave(2)
	e.AddUnwatched(Range{3.9, 3.9, 3.9}, 1, 1)
	if got := e.Unseen(2, 39); math.Abs(got.Typical-1) > 0.1 || got.High > 20 {
		t.Errorf("watched again: %v", got)
	}
	if got := e.Unseen(1, 1000); !math.IsInf(got.High, 1) {
		t.Errorf("never watched again: %v", got)
	}
}
