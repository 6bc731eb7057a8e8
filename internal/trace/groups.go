package trace

import (
	"slices"

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
	groups := groupsOf(plan)
	all := uprobe.TraceEvents(plan.Events)
	var made []*rate.Group
	for _, g := range groups {
		group := &rate.Group{Level: rate.Timed, Funcs: g.funcs}
		if first := plan.Events[g.events[0]]; plan.Mode != uprobe.Latency || len(first.Sites) > 0 && first.Sites[0].Kind.Counts() {
			group.Level = rate.Counted
		}
		if len(g.funcs) == 0 { // runtime probes
			if l.opt.Budget == 0 || plan.Mode != uprobe.Latency {
				continue
			}
			m.choice.Base = len(plan.Funcs)
			m.choice.Funcs[m.choice.Base].Times = true
			group.Funcs = []int{m.choice.Base}
		}
		for _, e := range g.events {
			m.probes[group] = append(m.probes[group], all[e])
		}
		made = append(made, group)
	}
	m.price()
	m.choice.Start(made)
	return eligible
}

// planGroup are functions of a plan that have events in common, and these.
type planGroup struct{ funcs, events []int }

// groupsOf are the groups of a plan. One has no functions: that of the runtime probes.
func groupsOf(plan *uprobe.Plan) []*planGroup {
	of := make([]*planGroup, len(plan.Funcs)) // by function
	var runtime *planGroup
	var groups []*planGroup
	for e := range plan.Events {
		var g *planGroup
		for _, s := range plan.Events[e].Sites {
			if s.Func >= 0 && of[s.Func] != nil {
				g = of[s.Func]
				break
			}
		}
		if sites := plan.Events[e].Sites; g == nil && len(sites) > 0 && sites[0].Func < 0 {
			g = runtime
		}
		if g == nil {
			g = &planGroup{}
			groups = append(groups, g)
		}
		g.events = append(g.events, e)
		for _, s := range plan.Events[e].Sites {
			switch {
			case s.Func < 0:
				runtime = g
			case of[s.Func] == nil:
				of[s.Func] = g
				g.funcs = append(g.funcs, s.Func)
			case of[s.Func] != g: // the event joins two groups
				other := of[s.Func]
				for _, i := range other.funcs {
					of[i] = g
				}
				g.funcs = append(g.funcs, other.funcs...)
				g.events = append(g.events, other.events...)
				groups = slices.DeleteFunc(groups, func(h *planGroup) bool { return h == other })
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.events) // as they are to be disarmed
		slices.Sort(g.funcs)
	}
	return groups
}
