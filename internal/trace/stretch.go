package trace

import (
	"math"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// stretch is a stretch of time in which sampled functions are watched.
type stretch struct {
	budget.Plan
	group  *group
	open   bool // its probes are in place
	ended  bool // all its calls were counted
	began  time.Time
	took   time.Duration  // of all of it
	cpu    time.Duration  // the program's CPU time: when it began, and then of all of it
	before map[int]uint64 // the number of calls when it began
	calls  map[int]int    // of the stretch, once it has ended
	looked bool           // what its probes have cost is known
	events uint64         // that were read when it began
	// around is the program's CPU time from the last look before it to the first one behind it, spent what all probes took of that, and lasted
	// the time between the two looks.
	around, spent, lasted float64
}

// sample watches sampled functions for a stretch of time.
func (m *sampler) sample(p budget.Plan) error {
	m.inTurn = true
	defer func() { m.inTurn = false }()
	funcs := p.Funcs
	var runtime []tracefs.Event // the probes of the runtime, if the stretch needs them
	if base := len(m.l.plan.Funcs); slices.Contains(funcs, base) {
		funcs = slices.DeleteFunc(slices.Clone(funcs), func(i int) bool { return i == base })
		if p.Kind == budget.Time {
			runtime = m.base.events
		}
	}
	counts := p.Kind != budget.Time && m.l.plan.Mode == uprobe.Latency
	g := &group{}
	if len(funcs) > 0 {
		var err error
		if g, err = m.make(funcs, counts); g == nil || err != nil {
			return err
		}
	}
	events := slices.Concat(g.events, runtime)
	if err := m.hasten(len(events) > 1); err != nil {
		return err
	}
	m.look()
	s := &stretch{Plan: p, group: g, calls: make(map[int]int)}
	m.stretch = s
	at, err := m.arm(events)
	if err != nil || m.failed {
		m.stretch = nil
		m.estimates.Pause(m.own(s.around, s.spent), s.lasted, s.around)
		return err
	}
	m.come(g, at.Ticks)
	s.began, s.cpu, s.open, s.events = time.Now(), m.load.clock.Used(), true, m.l.stream.Events()
	m.l.stream.Mark(at.Ticks, func() { s.before = m.begun(g) })
	if err := m.wait(time.Now().Add(time.Duration(p.Seconds * float64(time.Second)))); err != nil {
		return err
	}
	if err := m.close(s); err != nil {
		return err
	}
	if err := m.disarm(events); err != nil {
		return err
	}
	m.look()
	s.looked = true
	for !s.ended {
		if err := m.wait(time.Now()); err != nil {
			return err
		}
	}
	m.account()
	return nil
}

// close ends a stretch, before its probes are removed.
func (m *sampler) close(s *stretch) error {
	until, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	s.took, s.cpu, s.open = time.Since(s.began), m.load.clock.Used()-s.cpu, false
	m.leave(s.group, until.Ticks)
	m.l.stream.Mark(until.Ticks, func() {
		for i, n := range m.begun(s.group) {
			if n > s.before[i] {
				s.calls[i] = int(n - s.before[i])
			}
		}
		s.ended = true
	})
	return nil
}

// total is the number of calls of a stretch.
func (s *stretch) total() (n int) {
	for _, calls := range s.calls {
		n += calls
	}
	return n
}

// begun are the numbers of calls of a group's functions so far.
func (m *sampler) begun(g *group) map[int]uint64 {
	calls := make(map[int]uint64, len(g.funcs))
	for _, i := range g.funcs {
		calls[i] = m.l.stream.Begun(i)
	}
	return calls
}

// account takes a stretch whose calls were all counted.
func (m *sampler) account() {
	s := m.stretch
	if s == nil || !s.ended || !s.looked {
		return
	}
	m.stretch = nil
	m.budget.Cost(s.Plan, min(s.spent*m.load.dear(), max(s.around, s.spent)))
	inside, cost := s.cpu.Seconds(), 0.0
	filtered := m.l.plan.Filtered()
	if filtered { // of what the filter has dropped only the kernel's counters tell
		cost = s.spent * inside / max(s.around, inside, 1e-9)
	}
	for i, n := range s.calls {
		switch f := &m.budget.Funcs[i]; {
		case filtered:
		case s.Kind == budget.Time:
			cost += float64(n) * f.Timed
		default:
			cost += float64(n) * f.Counted
		}
	}
	// A program that works in bursts may do other things in the stretch than around it.
	outside := max(s.around-inside, 0)
	m.estimates.Pause(m.own(outside, max(s.spent-cost, 0)), s.lasted-s.took.Seconds(), outside)
	own := budget.Less(inside, m.load.bounds(cost, m.budget.CPUs()))
	if n := float64(s.total()); s.Kind == budget.Count {
		m.counted.calls, m.counted.cpu = m.counted.calls+n, m.counted.cpu+inside
	} else if s.Kind == budget.Light && m.counted.calls > 0 {
		// To count a call took no more than all the time of stretches in which little else was done, but for what is in no cache.
		own.Low = max(own.Low, inside-1.5*n*m.counted.cpu/m.counted.calls)
	}
	if slices.Contains(s.Funcs, m.load.base) && s.Kind == budget.Time {
		// The hits are those from the look before the stretch to the one behind it.
		m.budget.Note(m.load.base, max(own.Typical, inside/50), m.load.calls[m.load.base]*inside/max(s.around, inside, 1e-9))
	}
	if s.Kind == budget.Time && m.budget.Counts { // calls are counted in other stretches, whose own time is known better
		m.estimates.Watched(own)
		return
	}
	of := budget.Stretch{Own: own, Calls: s.calls}
	if s.Kind == budget.Light {
		of.Light = s.Funcs
	}
	m.estimates.Add(of, s.took.Seconds(), inside)
	for _, i := range s.group.funcs {
		m.budget.Note(i, max(own.Typical, inside/50), float64(s.calls[i]))
	}
}

// settle takes the time since the last look into the estimates.
func (m *sampler) settle() {
	if m != nil && m.stretch == nil {
		m.look()
	}
}

// useless is how many times as high as an estimate a bound may be to be told.
const useless = 10

// whole estimates how often functions were called, of which so many calls were seen; nil if all were watched all the time.
func (m *sampler) whole(seen func(fn int) uint64) []*stats.Whole {
	if m == nil || !m.exceeded {
		return nil
	}
	m.account()
	all := make([]*stats.Whole, len(m.l.plan.Funcs))
	for i := range all {
		if i >= m.l.plan.Asked() { // a reason to wait, which stretches that time calls see alone
			n := float64(seen(i))
			all[i] = &stats.Whole{Calls: n, Low: n, High: math.Inf(1)}
			continue
		}
		if !m.estimates.Sampled(i) {
			continue
		}
		n := float64(seen(i))
		unseen := m.estimates.Unseen(i, seen(i))
		w := &stats.Whole{Calls: n + unseen.Typical, Low: n + unseen.Low, High: n + unseen.High}
		if m.failed && m.estimates.Away(i) || n > 0 && w.High > useless*w.Calls {
			w.High = math.Inf(1)
		}
		all[i] = w
	}
	return all
}
