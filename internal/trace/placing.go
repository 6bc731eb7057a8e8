package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// group is of functions whose probes are placed and removed together.
type group struct {
	funcs  []int
	events []tracefs.Event
	counts bool // they only count calls, in a run that times others
}

// key tells groups apart.
func key(counts bool, funcs []int) string { return fmt.Sprint(counts, funcs) }

// watch notes that a group is in place all the time.
func (m *sampler) watch(g *group) {
	m.watched = append(m.watched, g)
	for _, i := range g.funcs {
		m.budget.Watch(i)
		m.estimates.Leave(i)
	}
}

// cool takes the probes of hot functions out, those that cost most first. Others that share events with them get new ones.
func (m *sampler) cool() error {
	hot := m.hot
	m.hot = nil
	first := !m.exceeded
	if m.exceeded = true; first {
		m.l.opt.Say("%s", m.overBudget(hot))
	}
	if m.base != nil && slices.Contains(hot, m.base.funcs[0]) { // without the runtime's probes nothing can be timed
		for _, g := range m.watched {
			hot = append(hot, g.funcs...)
		}
		slices.Sort(hot)
		hot = slices.Compact(hot)
	}
	isHot := func(i int) bool { return slices.Contains(hot, i) }
	from, err := m.l.session.Mark(false)
	if err != nil {
		return err
	}
	var events []tracefs.Event
	m.watched = slices.DeleteFunc(m.watched, func(g *group) bool {
		if !slices.ContainsFunc(g.funcs, isHot) {
			return false
		}
		events = append(events, g.events...)
		m.leave(g, from.Ticks)
		for _, i := range g.funcs {
			m.estimates.Join(i)
			if isHot(i) {
				m.budget.Sample(i)
			} else {
				m.budget.Rest(i)
				m.again = append(m.again, i)
			}
		}
		return true
	})
	if first {
		m.l.stream.Mark(from.Ticks, func() {
			calls := make(map[int]int)
			for _, i := range hot {
				if i < len(m.l.plan.Funcs) {
					calls[i] = int(m.l.stream.Begun(i))
				}
			}
			m.estimates.First(calls)
		})
	}
	m.pause = firstPause
	return m.disarm(events)
}

// overBudget tells that the budget was exceeded, for the first time. It begins with what has happened, because a screen may
// have room for the first words only, and names are long.
func (m *sampler) overBudget(hot []int) string {
	var names []string
	for _, i := range hot {
		if i < len(m.l.plan.Funcs) {
			names = append(names, printable.Text(m.l.plan.Funcs[i].Name))
		}
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		names = append(names, "the runtime's functions")
	}
	return fmt.Sprintf("probes take more than %.4g%% of the program's CPU time: calls of %s are sampled, and their numbers estimated (--budget 0 sets no limit)",
		100*m.l.opt.Budget, strings.Join(names, ", "))
}

// hasten has the kernel take probes out quickly from now on, or at its own pace.
func (m *sampler) hasten(on bool) error {
	if m.l.opt.Budget == 0 || on == (m.l.calm != nil) {
		return nil
	}
	return m.beside(func() error {
		m.l.hasten(on)
		return nil
	})
}

// disarm removes probes, those first that took most at the last look.
func (m *sampler) disarm(events []tracefs.Event) error {
	m.l.vanished.leave(events)
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b tracefs.Event) int { return cmp.Compare(m.load.events[b.Name], m.load.events[a.Name]) })
	err := m.beside(func() error {
		ahead()
		return m.l.session.Disarm(events)
	})
	m.change(events)
	if err != nil && !errors.Is(err, errEnded) {
		return fmt.Errorf("disarm probes: %w", err)
	}
	return err
}

// urgent is the nice value of a thread that removes probes (nice(2)): what keeps the CPUs busy may be what is to be removed.
const urgent = -15

// ahead gives the goroutine a thread of its own that goes before others, and ends with it. Without CAP_SYS_NICE it takes its turn.
func ahead() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, urgent)
}

// change charges the budget for placing or removing probes: each interrupts the program on each CPU that it uses.
func (m *sampler) change(events []tracefs.Event) {
	sites := 0
	for i := range events {
		sites += len(events[i].Sites)
	}
	times := float64(sites) * m.budget.CPUs()
	m.changes += times
	m.budget.Spend(0, 0, times*m.load.costs.Typical.Change()/1e9)
}

// leave says that nothing of a group's functions counts from a time of the trace clock on.
func (m *sampler) leave(g *group, from uint64) {
	if g.counts {
		m.l.stream.Uncount(g.funcs, from, math.MaxUint64)
		return
	}
	for _, i := range g.funcs {
		m.gone[i] = from
	}
	m.l.stream.Retire(m.planned(g), from, math.MaxUint64)
}

// come says that calls of a group's functions that begin from a time of the trace clock on count again.
func (m *sampler) come(g *group, at uint64) {
	for _, i := range m.planned(g) {
		if g.counts {
			m.l.stream.Count([]int{i}, at)
		} else if from, ok := m.gone[i]; ok {
			m.l.stream.Retire([]int{i}, from, at)
			delete(m.gone, i)
		}
	}
}

// planned are the functions of a group that are the plan's: all but what stands for the runtime.
func (m *sampler) planned(g *group) []int {
	if g == m.base {
		return nil
	}
	return g.funcs
}

// make makes the events of a group, or finds the group that was made before. It is nil if there is no room for more.
func (m *sampler) make(funcs []int, counts bool) (*group, error) {
	l := m.l
	if g := m.groups[key(counts, funcs)]; g != nil {
		return g, nil
	}
	if m.events > mostEvents {
		return nil, m.cannot(fmt.Errorf("%d events are enough to remove at the end", m.events))
	}
	events, err := l.plan.Again(l.opt.Features, funcs, counts)
	if err != nil {
		return nil, err
	}
	g := &group{funcs: funcs, events: uprobe.TraceEvents(events), counts: counts}
	if err := m.beside(func() error { return l.session.Extend(m.ctx, g.events) }); err != nil {
		return nil, m.cannot(err)
	}
	l.plan.Events = slices.Concat(l.plan.Events, events)
	l.session.Join(g.events)
	m.events += len(events)
	m.groups[key(counts, funcs)] = g
	return g, l.stream.Extend()
}

// cannot says that no more probes can be placed, unless the run has ended: those that are in place stay.
func (m *sampler) cannot(err error) error {
	if errors.Is(err, errEnded) || m.ctx.Err() != nil {
		return errEnded
	}
	m.failed = true
	m.l.opt.Say("no more probes are placed: %v", err)
	return nil
}

// arm places probes, those of the last events first, and tells when they were in place.
func (m *sampler) arm(events []tracefs.Event) (at tracefs.Mark, err error) {
	m.change(events)
	if err := m.beside(func() error { return m.l.session.Arm(m.ctx, events) }); err != nil {
		if m.cannot(err) != nil {
			return at, errEnded
		}
		return at, m.disarm(events)
	}
	return m.l.session.Mark(false)
}

// place places probes of the first functions of a list, which are to be watched all the time.
func (m *sampler) place(list *[]int) error {
	if err := m.hasten(true); err != nil {
		return err
	}
	m.placed = time.Now()
	next := (*list)[:min(len(*list), m.batch)]
	if base := len(m.l.plan.Funcs); next[0] == base {
		next = next[:1]
	} else if i := slices.Index(next, base); i > 0 {
		next = next[:i]
	}
	*list = (*list)[len(next):]
	funcs := slices.Sorted(slices.Values(next))
	g := m.base
	if g == nil || funcs[0] != g.funcs[0] {
		var err error
		if g, err = m.make(funcs, false); g == nil || err != nil {
			return err
		}
	}
	at, err := m.l.session.Mark(false) // from now on whatever begins is seen to end
	if err != nil {
		return err
	}
	for _, i := range m.planned(g) {
		if _, ok := m.gone[i]; !ok { // it had no probes before
			m.gone[i] = 0
		}
	}
	m.come(g, at.Ticks)
	if _, err := m.arm(g.events); err != nil || m.failed {
		return err
	}
	m.look() // what is watched from here on costs something
	m.watch(g)
	m.pause = firstPause
	m.next = time.Now().Add(m.pause)
	return nil
}
