package rate

import (
	"math"
	"testing"
)

// later is a program of three functions, the first of which has probes from the beginning.
func later(funcs ...calls) (*model, *Choice) {
	m, c := newModel(1, Counted, 0.25, funcs)
	for i := range c.Funcs {
		c.Funcs[i] = Func{Counts: true, Times: true, Cost: costs}
		m.armed[i] = Off
	}
	m.armed[0] = Counted
	m.groups = []*Group{{Level: Counted, Funcs: []int{0}}}
	c.Start(m.groups, 0)
	return m, c
}

// TestLater: functions that have no probes at first get them in their order, in turn with what is called,
// and even if no more groups can be made. How much they are seen goes by when that was.
func TestLater(t *testing.T) {
	m, c := later(steady(100), steady(100), nil, nil)
	look := func() {
		m.run(0.2)
		c.Look(m.t, m.cpus, func(i int) (uint64, float64) { return uint64(m.seen[i]), m.cost[i] })
	}
	for _, want := range []struct {
		full, first bool
		level       Level
		of          int
	}{{false, false, Timed, 0}, {false, true, Counted, 1}, {false, false, Timed, 1}, {false, true, Counted, 2}, {true, true, Counted, 3}} {
		look()
		c.Full = want.full
		g := c.Raise(1)
		if g == nil || g.First != want.first || g.Level != want.level || len(g.Funcs) != 1 || g.Funcs[0] != want.of {
			t.Fatalf("%+v, not %+v", g, want)
		}
		m.done(c, g)
	}
	if g := c.Raise(1); g != nil {
		t.Errorf("all are there, and then %+v", g)
	}

	m, c = later(steady(100), steady(300), nil)
	m.run(1)
	m.keep(c, 4)
	s := c.Funcs[1].Seen(m.t)
	if rate := m.seen[1] / s.Counted; math.Abs(rate-300) > 30 || s.Counted > 3.1 || math.Abs(s.Missed-300) > 60 {
		t.Errorf("%v calls, seen %+v: %v/s, not 300", m.seen[1], s, rate)
	}
}

// TestLaterFailed: if probes can't be armed, no function gets any that had none, and those that are armed stay.
func TestLaterFailed(t *testing.T) {
	_, c := later(steady(100), steady(100), nil)
	g := c.Raise(1)
	if g == nil || !g.First {
		t.Fatalf("%+v", g)
	}
	c.Drop(g)
	if g := c.Raise(1); g != nil {
		t.Errorf("another one: %+v", g)
	}
	if c.Funcs[0].At() != Counted {
		t.Errorf("the first is %v", c.Funcs[0].At())
	}
}

// TestLaterCold: of 12,000 functions none is called, and placing their probes alone takes no more than it may. All
// get some even so.
func TestLaterCold(t *testing.T) {
	m, c := later(make([]calls, 12000)...)
	c.Share = 0.01
	for _, seconds := range []float64{2, 5, 60} {
		m.keep(c, seconds)
		if share := m.lost / m.t; share > c.Share || m.lost == 0 {
			t.Errorf("probes took %.2f%% of %v s", 100*share, seconds)
		}
	}
	for i := range c.Funcs {
		if c.Funcs[i].unplaced() {
			t.Fatalf("function %d has no probes after a minute", i)
		}
	}
}

// TestLaterOwed: each thousand of functions that get their probes later has hot ones. Those that follow wait until what
// these took too much is made up for.
func TestLaterOwed(t *testing.T) {
	funcs := make([]calls, 12000)
	for i := range funcs {
		if i%1000 == 7 {
			funcs[i] = steady(1e6)
		}
	}
	m, c := later(funcs...)
	c.Share = 0.02
	for _, seconds := range []float64{5, 10, 60} {
		m.keep(c, seconds)
		if share := m.lost / m.t; share > 1.2*c.Share {
			t.Errorf("probes took %.2f%% of %v s", 100*share, seconds)
		}
	}
	for i := range c.Funcs {
		if c.Funcs[i].unplaced() {
			t.Fatalf("function %d has no probes after a minute", i)
		}
	}
}
