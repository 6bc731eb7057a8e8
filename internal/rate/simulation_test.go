package rate

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// What things take in the model, in seconds: a hit where a call begins, and where it ends; the disarming
// of an event; the definition of a site among many; the arming of a group.
const (
	entryCost, returnCost = 0.7e-6, 10e-6
	disarming             = 0.045
	defining              = 0.0005
	arming                = 0.01
	lookEvery             = 0.1
	soon                  = 0.05 // when what is tried is looked at
	step                  = 0.005
)

// costs are what a call of the model's programs costs at each level.
var costs = [...]float64{Off: 0, Counted: entryCost, Timed: entryCost + returnCost}

// calls is how often a function is called at a time, in calls per second, if nothing is probed. A nil one
// is never called.
type calls func(t float64) float64

// model is a program that calls functions as fast as it can, on some CPUs. What probes take of its time
// it makes fewer calls.
type model struct {
	cpus  float64
	funcs []calls
	// t is the time, lost how much of it probes took since the program was given 0.3 s.
	t, lost float64
	// made are all calls of each function, seen those that were counted or timed, cost what their probes
	// have taken; told is what of that the choice knows.
	made, seen, cost, told []float64
	armed                  []Level
	groups                 []*Group
	// The group that is being armed, until then.
	next  *Group
	until float64
}

// run lets the program run for some time.
func (m *model) run(seconds float64) {
	for end := m.t + seconds; m.t < end-step/2; m.t += step {
		var work float64
		for i, f := range m.funcs {
			if f != nil {
				work += f(m.t) * costs[m.armed[i]]
			}
		}
		speed := 1 / (1 + work/m.cpus)
		for i, f := range m.funcs {
			if f == nil {
				continue
			}
			n := f(m.t) * speed * step
			if m.made[i] += n; m.armed[i] != Off {
				m.seen[i] += n
				m.cost[i] += n * costs[m.armed[i]]
			}
		}
		if m.t > 0.3 {
			m.lost += (1 - speed) * step
		}
	}
}

// done tells the choice that a group was armed or disarmed.
func (m *model) done(c *Choice, g *Group) {
	c.Done(g, m.t)
	if !slices.Contains(m.groups, g) {
		m.groups = append(m.groups, g)
	}
	clear(m.armed)
	for _, g := range m.groups {
		for _, i := range g.Funcs {
			if g.Armed {
				m.armed[i] = max(m.armed[i], g.Level)
			}
		}
	}
}

// keep has a choice keep to its share of the program's time until a time.
func (m *model) keep(c *Choice, until float64) {
	look, settled := m.t+lookEvery, false
	for m.t < until {
		m.run(step)
		if m.next != nil && m.t >= m.until {
			if m.done(c, m.next); m.next.Tried {
				look = min(look, m.t+soon)
			}
			m.next, settled = nil, false
		}
		if m.t >= look {
			settled = false
			c.Look(m.t, m.cpus, func(i int) (uint64, float64) {
				spent := m.cost[i] - m.told[i]
				m.told[i] = m.cost[i]
				return uint64(m.seen[i]), spent
			})
			look = m.t + lookEvery
			for _, g := range c.Hot() {
				m.run(disarming * eventsOf(g))
				m.done(c, g)
				look = m.t // what was hit meanwhile tells how hot it was
			}
		}
		if m.next == nil && !settled {
			if m.next, settled = c.Raise(1000), true; m.next != nil {
				m.until = m.t + arming
				if !slices.Contains(m.groups, m.next) {
					m.until += defining * float64(len(m.next.Funcs)) * eventsOf(m.next)
				}
			}
		}
	}
}

// eventsOf is how many events a group has.
func eventsOf(g *Group) float64 {
	if g.Level == Timed {
		return 2
	}
	return 1
}

// newModel is a program whose functions share groups of a thousand, all at a level at first, and what
// keeps probes of them to a share of its time.
func newModel(cpus float64, first Level, share float64, funcs []calls) (*model, *Choice) {
	n := len(funcs)
	m := &model{cpus: cpus, funcs: funcs, armed: make([]Level, n), made: make([]float64, n), seen: make([]float64, n), cost: make([]float64, n), told: make([]float64, n)}
	c := &Choice{Share: share, Base: -1, Trials: true, Funcs: make([]Func, n)}
	for i := range c.Funcs {
		c.Funcs[i] = Func{Counts: true, Times: true, Cost: costs}
		m.armed[i] = first
	}
	for i := 0; i < n; i += 1000 {
		g := &Group{Level: first}
		for k := i; k < min(i+1000, n); k++ {
			g.Funcs = append(g.Funcs, k)
		}
		m.groups = append(m.groups, g)
	}
	c.Start(m.groups, 0)
	return m, c
}

func steady(rate float64) calls { return func(float64) float64 { return rate } }

// from is called from a time on.
func from(at, rate float64) calls {
	return func(t float64) float64 {
		if t < at {
			return 0
		}
		return rate
	}
}

// bursts last 0.2 s each.
func bursts(every, rate float64) calls {
	return func(t float64) float64 {
		if math.Mod(t, every) > 0.2 {
			return 0
		}
		return rate
	}
}

// ten are called at rates that are three times as high from one to the next.
func ten(first float64) (funcs []calls) {
	for range 10 {
		funcs = append(funcs, steady(first))
		first *= 3
	}
	return funcs
}

func hundred(rate float64) (funcs []calls) {
	for range 100 {
		funcs = append(funcs, steady(rate))
	}
	return funcs
}

// many are functions among 15,000 that are never called.
func many(funcs ...calls) []calls { return append(funcs, make([]calls, 15000)...) }

// workloads are what programs do, on how many CPUs, and what is seen of them at first.
var workloads = []struct {
	name  string
	cpus  float64
	first Level
	funcs []calls
}{
	{"10 a second", 1, Timed, []calls{steady(10), nil}},
	{"1,000 a second", 1, Timed, []calls{steady(1e3), nil}},
	{"10,000 a second", 1, Timed, []calls{steady(1e4), nil}},
	{"100,000 a second", 1, Timed, []calls{steady(1e5), nil}},
	{"a million a second", 1, Timed, []calls{steady(1e6), nil}},
	{"ten rates", 1, Timed, ten(50)},
	{"a hundred warm ones", 1, Timed, hundred(3e3)},
	{"a hundred hot ones", 1, Timed, hundred(3e4)},
	{"one hot among 15,000", 1, Counted, many(steady(1e6))},
	{"hot after 5 s", 1, Timed, []calls{from(5, 1e6), steady(100), nil}},
	{"hot among 15,000 after 5 s", 1, Counted, many(from(5, 1e6))},
	{"bursts each second", 1, Timed, []calls{bursts(1, 1e6), steady(100), nil}},
	{"bursts each 5 s", 1, Timed, []calls{bursts(5, 1e6), steady(100), nil}},
	{"bursts among 15,000", 1, Counted, many(bursts(3, 3e5))},
	{"8 threads, a million a second each", 8, Timed, []calls{steady(8e6), nil}},
	{"8 threads, ten rates", 8, Timed, ten(400)},
	{"8 threads, one hot among 15,000", 8, Counted, many(steady(8e6))},
	{"8 threads, hot after 5 s", 8, Timed, []calls{from(5, 8e6), steady(800), nil}},
	{"8 threads, bursts", 8, Timed, []calls{bursts(2, 8e6), steady(800), nil}},
	{"8 threads, a hundred hot ones", 8, Timed, hundred(1e5)},
}

// TestBudgetKept: of each workload probes take no more than 1.5 times what they may, from 0.3 s on.
func TestBudgetKept(t *testing.T) {
	const seconds = 20
	for _, w := range workloads {
		for _, percent := range []float64{1, 5, 25} {
			m, c := newModel(w.cpus, w.first, percent/100, w.funcs)
			m.keep(c, seconds)
			if share := 100 * m.lost / (m.t - 0.3); share > 1.5*percent {
				t.Errorf("%s, of %v%%: probes took %.2f%%", w.name, percent, share)
			} else {
				t.Logf("%s, of %v%%: probes took %.2f%%", w.name, percent, share)
			}
			for i := range c.Funcs {
				if got := float64(c.Funcs[i].calls); got > m.seen[i] {
					t.Errorf("%s: function %d: %v calls, seen %v", w.name, i, got, m.seen[i])
				}
			}
		}
	}
}

// TestBudgetSoon: what is hot from the beginning, or turns hot, is disarmed within 0.3 s, whatever is
// being armed then.
func TestBudgetSoon(t *testing.T) {
	for _, w := range workloads {
		m, c := newModel(w.cpus, w.first, 0.05, w.funcs)
		switch {
		case w.name == "one hot among 15,000" || w.name == "a million a second":
			m.keep(c, 0.3)
		case w.name == "hot among 15,000 after 5 s" || w.name == "hot after 5 s":
			m.keep(c, 4.9)
			// Others are being defined.
			m.next, m.until = &Group{Level: Timed, Beside: true}, 6
			m.keep(c, 5.3)
		default:
			continue
		}
		if m.armed[0] == Timed || c.Funcs[0].At() == Timed || m.armed[0] == Counted && w.cpus*entryCost*1e6 > 0.5 && len(c.Hot()) == 0 {
			t.Errorf("%s: armed %v, at %v after 0.3 s", w.name, m.armed[0], c.Funcs[0].At())
		}
	}
}

// TestBudgetBack: what was hot for a second, and is cool from then on, is timed again, and so are those
// that shared its probes, which were away for no longer than it took to make them new ones.
func TestBudgetBack(t *testing.T) {
	cools := func(t float64) float64 {
		if t < 1 {
			return 1e6
		}
		return 100
	}
	m, c := newModel(1, Timed, 0.05, []calls{cools, steady(50), nil})
	m.keep(c, 20)
	for i := range c.Funcs {
		if c.Funcs[i].At() != Timed || c.Funcs[i].TooHot() != 0 {
			t.Errorf("function %d: %v, too hot at %v/s", i, c.Funcs[i].At(), c.Funcs[i].TooHot())
		}
	}
	if s := c.Funcs[1].Seen(m.t); s.Counted < 0.95*s.Of || math.Abs(s.Of-m.t) > 1e-6 {
		t.Errorf("the other was seen %+v", s)
	}
}

// TestBudgetNone: without a share nothing is lowered, and all that is called is timed.
func TestBudgetNone(t *testing.T) {
	m, c := newModel(1, Counted, 0, ten(50))
	m.keep(c, 2)
	for i := range c.Funcs {
		if c.Funcs[i].At() != Timed {
			t.Errorf("function %d: %v", i, c.Funcs[i].At())
		}
	}
}

// TestBudgetDebt: what is new and hot again and again is found out each time, and takes too much until then. All
// probes together keep to their share even so, because others make up for it.
func TestBudgetDebt(t *testing.T) {
	funcs := ten(50)
	for i := range 20 {
		funcs = append(funcs, func(t float64) float64 {
			if int(t/3) != i {
				return 0
			}
			return 1e5
		})
	}
	m, c := newModel(1, Timed, 0.05, funcs)
	m.keep(c, 60)
	if share := m.lost / m.t; share > 1.1*c.Share {
		t.Errorf("probes took %.2f%%", 100*share)
	}
}

// TestBudgetTurns: a function that turned hot just before a look is known to be as hot as it was until its
// probes were disarmed, so that it is not tried again for being cool.
func TestBudgetTurns(t *testing.T) {
	for turn := 1.0; turn < 1.1; turn += step {
		m, c := newModel(1, Timed, 0.05, []calls{from(turn, 1e6)})
		m.keep(c, turn+0.5)
		if f := &c.Funcs[0]; f.clean < 2e5 {
			t.Errorf("after %.3f s: taken to be called %.0f times a second", turn, f.clean)
		}
	}
}

// TestBudgetMissed: what is not seen is estimated well enough where calls are steady.
func TestBudgetMissed(t *testing.T) {
	m, c := newModel(1, Timed, 0.05, []calls{steady(3e5)})
	m.keep(c, 10)
	missed := m.made[0] - m.seen[0]
	if s := c.Funcs[0].Seen(m.t); math.Abs(s.Missed-missed) > 0.15*missed || s.Timed > 0.5 {
		t.Errorf("estimated %+v, missed %.0f", s, missed)
	}
}

// TestBudgetBursts: what comes in bursts is tried ever more seldom.
func TestBudgetBursts(t *testing.T) {
	var strikes [2]int
	for k, until := range []float64{20, 200} {
		m, c := newModel(1, Timed, 0.25, []calls{bursts(1, 1e6)})
		m.keep(c, until)
		strikes[k] = c.Funcs[0].strikes
	}
	if strikes[1] > 3*strikes[0] {
		t.Errorf("%d strikes in 20 s, %d in 200 s", strikes[0], strikes[1])
	}
}

// TestBudgetBase: where the probes of the runtime alone take too much, nothing is timed any more, but calls
// are counted; and all comes back when they take less.
func TestBudgetBase(t *testing.T) {
	goroutines := func(t float64) float64 {
		if t < 3 {
			return 1e6
		}
		return 10
	}
	m, c := newModel(1, Timed, 0.25, []calls{steady(100), steady(200), goroutines})
	c.Base = 2
	c.Funcs[2] = Func{Times: true}
	m.groups = []*Group{{Level: Timed, Funcs: []int{0, 1}}, {Level: Timed, Funcs: []int{2}}}
	c.Start(m.groups, 0)
	for _, want := range []struct {
		at    float64
		level Level
	}{{1, Counted}, {20, Timed}} {
		m.keep(c, want.at)
		for i := range 2 {
			if c.Funcs[i].At() != want.level {
				t.Errorf("after %v s function %d is %v", want.at, i, c.Funcs[i].At())
			}
		}
	}
}

// TestLimit: with a limit those are timed that are called no more often, however much that takes.
func TestLimit(t *testing.T) {
	turns := func(t float64) float64 {
		if t < 2 {
			return 10
		}
		return 5000
	}
	m, c := newModel(1, Counted, 0, []calls{steady(900), steady(1200), turns, nil})
	c.Limit = 1000
	for i := range c.Funcs {
		c.Funcs[i].Stays = true
	}
	for _, want := range []struct {
		at     float64
		levels string
	}{{1, "[2 1 2 1]"}, {4, "[2 1 1 1]"}} {
		m.keep(c, want.at)
		var levels []Level
		for i := range c.Funcs {
			levels = append(levels, c.Funcs[i].At())
		}
		if got := fmt.Sprint(levels); got != want.levels {
			t.Errorf("after %v s: %s, want %s", want.at, got, want.levels)
		}
	}
	if c.Funcs[1].TooHot() == 0 || c.Funcs[2].TooHot() == 0 || c.Funcs[0].TooHot() != 0 {
		t.Errorf("too hot: %v, %v, %v", c.Funcs[0].TooHot(), c.Funcs[1].TooHot(), c.Funcs[2].TooHot())
	}
}

// TestBudgetDrop: what can't be armed is not asked for again.
func TestBudgetDrop(t *testing.T) {
	m, c := newModel(1, Timed, 0.05, []calls{steady(1e5), steady(50)})
	m.run(lookEvery)
	c.Look(m.t, m.cpus, func(i int) (uint64, float64) { return uint64(m.seen[i]), m.cost[i] })
	for _, g := range c.Hot() {
		m.done(c, g)
	}
	for n := 0; ; n++ {
		g := c.Raise(1000)
		if g == nil {
			break
		}
		if c.Drop(g); n > 2 {
			t.Fatal("again and again")
		}
	}
}
