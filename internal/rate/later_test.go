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

// TestLater: functions that have no probes at first get them in their order, behind what is called, even
// if no more groups can be made. How much they are seen goes by when that was.
func TestLater(t *testing.T) {
	m, c := later(steady(100), steady(100), nil)
	m.run(0.2)
	c.Look(m.t, m.cpus, func(i int) (uint64, float64) { return uint64(m.seen[i]), m.cost[i] })
	if g := c.Raise(1); g == nil || g.Level != Timed || g.First || len(g.Funcs) != 1 || g.Funcs[0] != 0 {
		t.Errorf("at first %+v, not the one that is called", g)
	}
	c.Full = true
	for i := 1; i < 3; i++ {
		g := c.Raise(1)
		if g == nil || g.Level != Counted || !g.First || g.Beside || len(g.Funcs) != 1 || g.Funcs[0] != i {
			t.Fatalf("then %+v, not function %d", g, i)
		}
		m.done(c, g)
	}
	if g := c.Raise(1); g != nil {
		t.Errorf("all is counted, and then %+v", g)
	}
	if c.Full = false; c.Raise(1) == nil {
		t.Error("there is room, and nothing is timed")
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
