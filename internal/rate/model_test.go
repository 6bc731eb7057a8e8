package rate

import (
	"math"
	"slices"
)

// What things take in the model, in seconds: a hit where a call begins, and where it ends; the disarming
// of an event; the definition of a site among many; the arming of a group; a probe that is placed or removed.
const (
	entryCost, returnCost = 0.7e-6, 10e-6
	disarming             = 0.045
	defining              = 0.0005
	arming                = 0.01
	changing              = 8e-6
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
	if times := c.Changed(len(g.Funcs) * int(eventsOf(g))); m.t > 0.3 {
		m.lost += times * changing / m.cpus
	}
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
	c := &Choice{Share: share, Change: changing, Base: -1, Trials: true, Funcs: make([]Func, n)}
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
