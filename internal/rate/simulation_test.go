package rate

import (
	"fmt"
	"math"
	"testing"
)

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

// TestBudgetOnce: a function's calls are never counted by two of its groups at once.
func TestBudgetOnce(t *testing.T) {
	cools := func(t float64) float64 {
		if t < 1 {
			return 1e5
		}
		return 100
	}
	m, c := newModel(1, Timed, 0.05, []calls{cools})
	for m.t < 20 {
		m.keep(c, m.t+0.1)
		n := 0
		for _, g := range m.groups {
			if g.Armed && !g.Beside {
				n++
			}
		}
		if n > 1 {
			t.Fatalf("after %.2f s %d groups count the same calls", m.t, n)
		}
	}
	if c.Funcs[0].At() != Timed {
		t.Errorf("at %v in the end", c.Funcs[0].At())
	}
}

// TestBudgetBlind: calls are timed beside a Counter. Where that is disarmed for another function's sake, and can't
// come back, what times them is found to be too hot all the same.
func TestBudgetBlind(t *testing.T) {
	turns := func(t float64) float64 {
		if t < 6 {
			return 10
		}
		return 1e6
	}
	m, c := newModel(1, Counted, 0.05, []calls{from(3, 1e6), turns})
	m.keep(c, 2)
	c.Full = true
	m.keep(c, 5.9)
	if m.armed[1] != Timed || c.Funcs[1].At() != Off {
		t.Errorf("armed %v, at %v", m.armed[1], c.Funcs[1].At())
	}
	if m.keep(c, 8); m.armed[1] != Off {
		t.Errorf("hot, and armed %v", m.armed[1])
	}
}

// TestBudgetFull: where there is no room for new groups, one of several functions comes back as it was.
func TestBudgetFull(t *testing.T) {
	cools := func(t float64) float64 {
		if t < 1 {
			return 1e6
		}
		return 100
	}
	m, c := newModel(1, Counted, 0.05, []calls{cools, steady(50), nil})
	c.Full = true
	m.keep(c, 20)
	for i := range c.Funcs {
		if c.Funcs[i].At() != Counted {
			t.Errorf("function %d: %v", i, c.Funcs[i].At())
		}
	}
	if len(m.groups) != 1 {
		t.Errorf("%d groups", len(m.groups))
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

// TestBudgetMissed: what is not seen is estimated well enough where calls are steady; less well if probes have had
// nearly all of the time.
func TestBudgetMissed(t *testing.T) {
	for rate, off := range map[float64]float64{3e5: 0.15, 1e6: 0.5} {
		m, c := newModel(1, Timed, 0.05, []calls{steady(rate)})
		m.keep(c, 10)
		missed := m.made[0] - m.seen[0]
		if s := c.Funcs[0].Seen(m.t); math.Abs(s.Missed-missed) > off*missed || s.Timed > 0.5 {
			t.Errorf("of %v a second: estimated %+v, missed %.0f", rate, s, missed)
		}
	}
}

// TestBudgetBegin: before the window has begun nothing is seen, nor missed.
func TestBudgetBegin(t *testing.T) {
	m, c := newModel(1, Timed, 0.05, []calls{from(5, 3e5)})
	m.keep(c, 5)
	c.Begin(m.t)
	calls := m.made[0]
	m.keep(c, 15)
	missed := m.made[0] - calls - m.seen[0]
	if s := c.Funcs[0].Seen(m.t); math.Abs(s.Of-10) > 0.01 || s.Timed > 5 || math.Abs(s.Missed-missed) > 0.25*missed {
		t.Errorf("seen %+v, missed %.0f", s, missed)
	}
}

// TestSeenBefore: a moment that is read after a change of level was before it: no share is less than none, or
// more than all.
func TestSeenBefore(t *testing.T) {
	var f Func
	for _, test := range []struct {
		to         Level
		at, moment float64
		want       Seen
	}{
		{Counted, 1, 0.9, Seen{Of: 0.9}},
		{Timed, 2, 1.9, Seen{Of: 1.9, Counted: 0.9}},
		{Counted, 3, 2.9, Seen{Of: 2.9, Counted: 1.9, Timed: 1}},
		{Off, 4, 3.9, Seen{Of: 3.9, Counted: 3, Timed: 1}},
	} {
		f.set(test.to, test.at)
		got := f.Seen(test.moment)
		for _, part := range [][2]float64{{got.Of, test.want.Of}, {got.Counted, test.want.Counted}, {got.Timed, test.want.Timed}} {
			if math.Abs(part[0]-part[1]) > 0.11 || part[0] < 0 || part[0] > got.Of {
				t.Errorf("at %v: %+v, want %+v", test.moment, got, test.want)
			}
		}
		if got.Timed > got.Counted {
			t.Errorf("at %v: %+v", test.moment, got)
		}
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
