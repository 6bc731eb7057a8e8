package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"

	"github.com/ftgo/ftgo/internal/rate"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// funcs are the functions of a group that are the plan's.
func (m *switcher) funcs(g *rate.Group) []int {
	if m.choice.Base >= 0 && g.Funcs[0] == m.choice.Base {
		return nil
	}
	return g.Funcs
}

// arm puts the probes of a group into place, which it makes if there are none.
func (m *switcher) arm(g *rate.Group) error {
	l := m.l
	probes, made := m.probes[g]
	if !made {
		events, err := l.plan.Again(l.opt.Features, uprobe.More{Funcs: g.Funcs, Counts: g.Level == rate.Counted, Beside: g.Beside})
		if err != nil {
			return err
		}
		probes = uprobe.TraceEvents(events)
		if err := m.beside(func() error { return l.session.Extend(m.ctx, probes) }); err != nil {
			return m.cannot(g, err)
		}
		if g.First {
			m.events += len(events)
		}
		l.plan.Events = slices.Concat(l.plan.Events, events)
		l.session.Join(probes)
		if err := l.stream.Extend(); err != nil {
			return err
		}
		m.probes[g] = probes
	}
	var since float64 // what was hit then is counted, however long the stream is read
	err := m.beside(func() error {
		err := l.session.Arm(m.ctx, probes)
		since = m.now()
		return err
	})
	if err != nil {
		if errors.Is(err, errEnded) {
			return err
		}
		return errors.Join(m.cannot(g, err), m.beside(func() error { return l.session.Disarm(probes) }))
	}
	m.changed(probes)
	if m.counters(g) {
		now, err := l.session.Mark(false)
		if err != nil {
			return err
		}
		for _, i := range g.Funcs {
			if from, ok := m.out[i]; ok {
				l.stream.Uncount([]int{i}, from, now.Ticks)
				delete(m.out, i)
			}
		}
	}
	m.choice.Done(g, since)
	return nil
}

// cannot ends the arming of more functions, unless the run has ended: what is armed so far stays.
func (m *switcher) cannot(g *rate.Group, err error) error {
	if errors.Is(err, errEnded) || m.ctx.Err() != nil {
		return errEnded
	}
	m.failed, m.choice.Full = true, true
	m.choice.Drop(g)
	what := "timed"
	if g.First {
		what = "probed"
	}
	m.l.opt.Say("no more functions are %s: %v", what, err)
	return nil
}

// disarm takes the probes of groups out, those first that took most at the last look.
func (m *switcher) disarm(groups []*rate.Group) error {
	l := m.l
	from, err := l.session.Mark(false)
	if err != nil {
		return err
	}
	var probes []tracefs.Event
	for _, g := range groups {
		probes = append(probes, m.probes[g]...)
		if !m.counters(g) {
			l.stream.Retire(m.funcs(g), from.Ticks, math.MaxUint64)
			continue
		}
		l.stream.Uncount(g.Funcs, from.Ticks, math.MaxUint64)
		for _, i := range g.Funcs {
			m.out[i] = from.Ticks
		}
	}
	l.vanished.leave(probes)
	// What shares events with what is hot may have a hundred of its own.
	slices.SortStableFunc(probes, func(a, b tracefs.Event) int { return cmp.Compare(m.load.events[b.Name], m.load.events[a.Name]) })
	for _, g := range groups {
		m.choice.Done(g, m.now()) // it is not seen any more, even if the run ends before the probes are gone
	}
	err = m.beside(func() error {
		ahead()
		return l.session.Disarm(probes)
	})
	if err != nil {
		return fmt.Errorf("disarm probes: %w", err)
	}
	m.changed(probes)
	until, err := l.session.Mark(false)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if !m.counters(g) {
			l.stream.Retire(m.funcs(g), from.Ticks, until.Ticks)
		}
	}
	return nil
}

// urgent is how much ahead of others a thread is that disarms (nice(2)).
const urgent = -15

// ahead has the goroutine go on ahead of what keeps the CPUs busy: that may be what is to be disarmed. Its thread ends
// with it. Without CAP_SYS_NICE it takes its turn.
func ahead() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, urgent)
}

// changed notes that probes were placed, or removed.
func (m *switcher) changed(probes []tracefs.Event) {
	for i := range probes {
		m.changes += m.choice.Changed(len(probes[i].Sites))
	}
}

// counters tells whether a group is of Counters, beside which calls may be timed.
func (m *switcher) counters(g *rate.Group) bool {
	return g.Level == rate.Counted && m.l.plan.Mode == uprobe.Latency
}
