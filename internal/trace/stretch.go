package trace

import (
	"maps"
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
	group    *group
	open     bool // its probes are in place
	ended    bool // all its calls are counted
	began    time.Time
	took     time.Duration // duration of the stretch
	cpu      time.Duration // the program's CPU time at the beginning; once closed, the CPU time of the stretch
	calls    map[int]int   // number of calls of each function in the stretch, once ended
	measured bool          // the cost of its probes is measured
	events   uint64        // number of events read at the beginning
	// These are the program's CPU time, the cost of all probes, and the elapsed time, from the measurement before the
	// stretch to the measurement after the stretch, in seconds.
	cpuAround, spentAround, secondsAround float64
}

// runStretch watches sampled functions for a stretch of time.
func (m *sampler) runStretch(p budget.Plan) error {
	m.changing = true
	defer func() { m.changing = false }()
	funcs := p.Funcs
	var runtime []tracefs.Event // the runtime probes, if the stretch times calls
	if base := m.load.runtimeIndex; slices.Contains(funcs, base) {
		funcs = slices.DeleteFunc(slices.Clone(funcs), func(i int) bool { return i == base })
		if p.Kind == budget.Time {
			runtime = m.groups[groupKey(false, []int{base})].events
		}
	}
	countOnly := p.Kind != budget.Time && m.l.plan.Mode == uprobe.Latency
	g := &group{}
	if len(funcs) > 0 {
		var err error
		if g, err = m.groupOf(funcs, countOnly); g == nil || err != nil {
			return err
		}
	}
	events := slices.Concat(g.events, runtime)
	if err := m.setHurry(len(events) > 1 || m.load.alone); err != nil {
		return err
	}
	m.measure()
	s := &stretch{Plan: p, group: g, calls: make(map[int]int)}
	m.stretch = s
	at, err := m.arm(events)
	if err != nil || m.failed {
		m.discard(s) // if the window has ended, end has measured the time since the measurement above
		return err
	}
	m.l.stream.Arm(g.funcs, g.countOnly, at.Ticks)
	s.began, s.cpu, s.open, s.events = time.Now(), m.load.cpuTime(), true, m.l.stream.Events()
	m.addCalls(s, -1, at.Ticks)
	if err := m.wait(time.Now().Add(time.Duration(p.Seconds * float64(time.Second)))); err != nil {
		return err
	}
	if err := m.close(s); err != nil {
		return err
	}
	if err := m.disarm(events); err != nil {
		return err
	}
	m.measure()
	s.measured = true
	for !s.ended {
		if err := m.wait(time.Now()); err != nil {
			return err
		}
	}
	m.addToEstimates()
	return nil
}

// discard makes a stretch count as unwatched time.
func (m *sampler) discard(s *stretch) {
	m.stretch = nil
	m.estimates.AddUnwatched(m.ownTime(s.cpuAround, s.spentAround), s.secondsAround, s.cpuAround)
}

// close ends a stretch. It must run before its probes are removed.
func (m *sampler) close(s *stretch) error {
	if m.l.tally != nil {
		m.l.tally.visited = time.Time{} // the next search is a full one, because a stretch is shorter than visitInterval
	}
	if err := m.l.counting(s.group.events, false); err != nil {
		return err
	}
	until, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	s.took, s.cpu, s.open = time.Since(s.began), m.load.cpuTime()-s.cpu, false
	m.l.stream.Disarm(s.group.funcs, s.group.countOnly, until.Ticks)
	m.addCalls(s, 1, until.Ticks)
	return nil
}

// addCalls adds sign times the number of calls of the stretch's functions until now to s.calls, once the stream has reached
// the present, which is at by the trace clock. The calls that the kernel's counters show meanwhile come later.
func (m *sampler) addCalls(s *stretch, sign int, at uint64) {
	now := maps.Clone(m.l.counted)
	m.l.stream.Mark(at, func() {
		for _, fn := range s.group.funcs {
			s.calls[fn] += sign * int(m.l.stream.Begun(fn)+now[fn]-m.l.counted[fn])
		}
		s.ended = sign > 0
	})
}

// addToEstimates adds the present stretch to the estimates once it has ended and its cost is measured.
func (m *sampler) addToEstimates() {
	s := m.stretch
	if s == nil || !s.ended || !s.measured {
		return
	}
	if t := m.l.tally; t != nil && t.doubt != nil && !t.said { // the calls may be of other processes
		m.discard(s)
		return
	}
	m.stretch = nil
	m.budget.SetCost(s.Plan, min(s.spentAround*m.load.maxCostRatio(), max(s.cpuAround, s.spentAround)))
	inside, cost, calls := s.cpu.Seconds(), 0.0, 0.0
	filtered := m.l.plan.Filtered()
	if filtered { // only the kernel's counters include the calls that the filter drops
		cost = s.spentAround * inside / max(s.cpuAround, inside, 1e-9)
	}
	for i, n := range s.calls {
		calls += float64(n)
		switch f := &m.budget.Funcs[i]; {
		case filtered:
		case s.Kind == budget.Time:
			cost += float64(n) * f.Timed
		default:
			cost += float64(n) * f.Counted
		}
	}
	// A program that works in bursts may behave differently in the stretch and around it.
	outside := max(s.cpuAround-inside, 0)
	m.estimates.AddUnwatched(m.ownTime(outside, max(s.spentAround-cost, 0)), s.secondsAround-s.took.Seconds(), outside)
	own := budget.Less(inside, m.load.bounds(cost, m.budget.CPUs()))
	if s.Kind == budget.Count {
		m.counted.calls, m.counted.cpu = m.counted.calls+calls, m.counted.cpu+inside
	} else if s.Kind == budget.Light && m.counted.calls > 0 {
		// The mean CPU time per call in Count stretches bounds the cost of counting a call; 1.5 is for cold caches.
		own.Low = max(own.Low, inside-1.5*calls*m.counted.cpu/m.counted.calls)
	}
	if slices.Contains(s.Funcs, m.load.runtimeIndex) && s.Kind == budget.Time {
		// The load's calls are the hits between the two measurements around the stretch.
		m.budget.AddStretch(m.load.runtimeIndex, max(own.Typical, inside/50), m.load.calls[m.load.runtimeIndex]*inside/max(s.cpuAround, inside, 1e-9))
	}
	if s.Kind == budget.Time && m.budget.Counts { // other stretches show the program's own time better
		m.estimates.AddTimed(own)
		return
	}
	of := budget.Stretch{Own: own, Calls: s.calls}
	if s.Kind == budget.Light {
		of.Light = s.Funcs
	}
	m.estimates.AddStretch(of, s.took.Seconds(), inside)
	for _, i := range s.group.funcs {
		m.budget.AddStretch(i, max(own.Typical, inside/50), float64(s.calls[i]))
	}
}

// update adds the time since the last measurement to the estimates.
func (m *sampler) update() {
	if m != nil && m.stretch == nil {
		m.measure()
	}
}

// maxBoundRatio is the highest ratio of an upper bound to its estimate. Higher bounds are useless: they become infinite.
const maxBoundRatio = 10

// whole estimates the number of calls of each function. seen returns the number of counted calls of a function.
// whole returns nil if all functions were always watched, and a nil element for each function that was always watched.
func (m *sampler) whole(seen func(fn int) uint64) []*stats.Estimate {
	if m == nil || !m.exceeded {
		return nil
	}
	m.addToEstimates()
	all := make([]*stats.Estimate, len(m.l.plan.Funcs))
	for i := range all {
		if i >= m.l.plan.RequestedFuncs() { // a wait reason, which only Time stretches record
			n := float64(seen(i))
			all[i] = &stats.Estimate{Calls: n, Low: n, High: math.Inf(1)}
			continue
		}
		if !m.estimates.WasSampled(i) {
			continue
		}
		n := float64(seen(i))
		unseen := m.estimates.Unseen(i, seen(i))
		w := &stats.Estimate{Calls: n + unseen.Typical, Low: n + unseen.Low, High: n + unseen.High}
		if m.failed && m.estimates.IsSampled(i) || n > 0 && w.High > maxBoundRatio*w.Calls {
			w.High = math.Inf(1)
		}
		all[i] = w
	}
	return all
}
