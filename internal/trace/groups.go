package trace

import (
	"github.com/ftgo/ftgo/internal/rate"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// usualShare is what timed calls may take where nobody has set a budget.
const usualShare = 0.5

// choose begins with the groups of functions that the plan's events make, and tells how many functions
// may be timed that are not.
func (m *switcher) choose() (eligible int) {
	l, plan := m.l, m.l.plan
	m.choice = rate.Choice{Share: l.opt.Budget, Limit: l.opt.MaxRate, Base: -1, Funcs: make([]rate.Func, len(plan.Funcs)+1)}
	if l.opt.Budget == 0 && l.opt.MaxRate == 0 {
		m.choice.Share = usualShare
	}
	for i := range plan.Asked() {
		f, planned := &m.choice.Funcs[i], &plan.Funcs[i]
		f.Stays = l.opt.Budget == 0
		switch {
		case plan.Mode != uprobe.Latency || planned.CountFirst && !planned.Returns:
			f.Counts = true
		case planned.CountFirst:
			f.Counts, f.Times = true, true
			eligible++
		default:
			f.Counts, f.Times = l.opt.Budget > 0 && l.opt.Countable && planned.Returns, true
		}
	}
	all := uprobe.TraceEvents(plan.Events)
	var made []*rate.Group
	for _, g := range plan.Groups() { // functions that are Later have none
		group := &rate.Group{Level: rate.Timed, Funcs: g.Funcs}
		if first := plan.Events[g.Events[0]]; plan.Mode != uprobe.Latency || len(first.Sites) > 0 && first.Sites[0].Kind.Counts() {
			group.Level = rate.Counted
		}
		if len(g.Funcs) == 0 { // runtime probes
			if l.opt.Budget == 0 || plan.Mode != uprobe.Latency {
				continue
			}
			m.choice.Base = len(plan.Funcs)
			m.choice.Funcs[m.choice.Base].Times = true
			group.Funcs = []int{m.choice.Base}
		}
		for _, e := range g.Events {
			m.probes[group] = append(m.probes[group], all[e])
		}
		made = append(made, group)
	}
	m.price()
	began := 0.0 // with the window, from which on hits are counted
	if l.from.Hits == nil {
		began = m.now()
	}
	m.choice.Start(made, began)
	return eligible
}
