package trace

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// group is a set of functions. Their probes are placed and removed together.
type group struct {
	funcs     []int // the runtime probes have an index behind all functions
	events    []tracefs.Event
	countOnly bool // the events only count calls, although the plan times calls
}

// groupKey returns the key of a group in sampler.groups.
func groupKey(countOnly bool, funcs []int) string { return fmt.Sprint(countOnly, funcs) }

// watch notes that a group's probes are in place all the time.
func (m *sampler) watch(g *group) {
	m.watched = append(m.watched, g)
	for _, i := range g.funcs {
		m.budget.Watch(i)
		m.estimates.Leave(i)
	}
}

// disarmHot removes the probes of hot functions, the most expensive ones first. Cool functions of the same groups get new
// probes later.
func (m *sampler) disarmHot() error {
	hot := m.hot
	m.hot = nil
	first := !m.exceeded
	if m.exceeded = true; first {
		m.l.opt.Say("%s", m.budgetMessage(hot))
	}
	if slices.Contains(hot, m.load.runtimeIndex) { // without the runtime probes calls can't be timed
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
		m.l.stream.Disarm(g.funcs, g.countOnly, from.Ticks)
		for _, i := range g.funcs {
			m.estimates.Join(i)
			if isHot(i) {
				m.budget.Sample(i)
			} else {
				m.budget.Unwatch(i)
				m.toRestore = append(m.toRestore, i)
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
			m.estimates.AddFirst(calls)
		})
	}
	m.load.measurePause = minPause
	return m.disarm(events)
}

// budgetMessage returns the message that the budget was exceeded for the first time. The reason comes first, because the
// screen of a live view may cut the end, and function names are long.
func (m *sampler) budgetMessage(hot []int) string {
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

// setHurry calls [Live.setHurry] while the stream is read. It does nothing without a budget.
func (m *sampler) setHurry(on bool) error {
	if m.l.opt.Budget == 0 || on == (m.l.endHurry != nil) {
		return nil
	}
	return m.runBackground(func() error {
		m.l.setHurry(on)
		return nil
	})
}

// disarm removes the probes of events. The events that cost most before the last measurement come first.
func (m *sampler) disarm(events []tracefs.Event) error {
	m.l.vanished.exclude(events)
	if err := m.l.counting(events, false); err != nil {
		return err
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b tracefs.Event) int { return cmp.Compare(m.load.events[b.Name], m.load.events[a.Name]) })
	err := m.runBackground(func() error {
		// The thread ends with the goroutine. Without CAP_SYS_NICE it keeps its priority.
		runtime.LockOSThread()
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, disarmNice)
		return m.l.session.Disarm(events)
	})
	m.chargeChange(events)
	if err != nil && !errors.Is(err, errEnded) {
		return fmt.Errorf("disarm probes: %w", err)
	}
	return err
}

// disarmNice is the nice value of the thread that removes probes (nice(2)). It is low, because the calls that these probes
// slow down may keep all CPUs busy.
const disarmNice = -15

// chargeChange charges the budget for placing or removing probes: each change interrupts every CPU that runs the program.
func (m *sampler) chargeChange(events []tracefs.Event) {
	sites := 0
	for i := range events {
		sites += len(events[i].Sites)
	}
	times := float64(sites) * m.budget.CPUs()
	m.changes += times
	m.budget.Spend(0, 0, times*m.load.costs.Typical.Change()/1e9)
}

// groupOf returns the group of functions. In the first call with these functions, it defines the group's events, and leaves
// them disarmed. It returns nil if no more events can be defined.
func (m *sampler) groupOf(funcs []int, countOnly bool) (*group, error) {
	l := m.l
	if g := m.groups[groupKey(countOnly, funcs)]; g != nil {
		return g, nil
	}
	if n := len(l.plan.Events); n > maxEvents {
		return nil, m.stopPlacing(fmt.Errorf("%d events are defined, and each takes 45 ms to remove", n))
	}
	events, err := l.plan.EventsFor(funcs, countOnly)
	if err != nil {
		return nil, err
	}
	g := &group{funcs: funcs, events: uprobe.TraceEvents(events), countOnly: countOnly}
	if err := m.runBackground(func() error { return l.session.Extend(m.ctx, g.events) }); err != nil {
		return nil, m.stopPlacing(err)
	}
	l.plan.Events = slices.Concat(l.plan.Events, events)
	l.session.Join(g.events)
	m.groups[groupKey(countOnly, funcs)] = g
	return g, l.stream.Extend()
}

// stopPlacing prints why no more probes can be placed. The probes that are in place stay. It returns errEnded if the
// window has ended.
func (m *sampler) stopPlacing(err error) error {
	if errors.Is(err, errEnded) || m.ctx.Err() != nil {
		return errEnded
	}
	m.failed = true
	m.l.opt.Say("no more probes are placed: %v", err)
	return nil
}

// arm arms events, beginning with the last event. It returns a time at which all events are armed. If the kernel refuses to
// arm one, it prints a message, sets failed and disarms the events.
func (m *sampler) arm(events []tracefs.Event) (at tracefs.Mark, err error) {
	m.chargeChange(events)
	if err := m.runBackground(func() error { return m.l.session.Arm(m.ctx, events) }); err != nil {
		if m.stopPlacing(err) != nil {
			return at, errEnded
		}
		return at, m.disarm(events)
	}
	if err := m.l.counting(events, true); err != nil {
		return at, err
	}
	return m.l.session.Mark(false)
}

// place arms the probes of the first functions of a list for good, and removes these functions from the list.
func (m *sampler) place(list *[]int) error {
	if err := m.setHurry(true); err != nil {
		return err
	}
	m.placedAt = time.Now()
	next := (*list)[:min(len(*list), m.batchSize)]
	if i := slices.Index(next, m.load.runtimeIndex); i >= 0 { // the runtime probes have a group of their own
		next = next[:max(i, 1)]
	}
	*list = (*list)[len(next):]
	g, err := m.groupOf(slices.Sorted(slices.Values(next)), false)
	if g == nil || err != nil {
		return err
	}
	at, err := m.l.session.Mark(false) // the ends of calls that begin from now on are seen
	if err != nil {
		return err
	}
	m.l.stream.Arm(g.funcs, false, at.Ticks)
	if _, err := m.arm(g.events); err != nil || m.failed {
		return err
	}
	m.measure() // ends the measured time without these probes
	m.watch(g)
	m.load.measurePause = minPause
	m.load.measureNext = time.Now().Add(m.load.measurePause)
	return nil
}
