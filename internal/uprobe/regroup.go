package uprobe

import "slices"

// Group is a set of functions that share events, as indexes in Plan.Funcs and Plan.Events.
type Group struct{ Funcs, Events []int }

// Groups returns the groups of all functions with probes. The group of runtime probes may have no functions.
func (p *Plan) Groups() []*Group {
	of := make([]*Group, len(p.Funcs)) // the group of each function
	var runtime *Group
	var groups []*Group
	for e := range p.Events {
		var g *Group
		for _, s := range p.Events[e].Sites {
			if s.Func >= 0 && of[s.Func] != nil {
				g = of[s.Func]
				break
			}
		}
		if sites := p.Events[e].Sites; g == nil && len(sites) > 0 && sites[0].Func < 0 {
			g = runtime
		}
		if g == nil {
			g = &Group{}
			groups = append(groups, g)
		}
		g.Events = append(g.Events, e)
		for _, s := range p.Events[e].Sites {
			switch {
			case s.Func < 0:
				runtime = g
			case of[s.Func] == nil:
				of[s.Func] = g
				g.Funcs = append(g.Funcs, s.Func)
			case of[s.Func] != g: // this event has functions of two groups: merge them
				other := of[s.Func]
				for _, i := range other.Funcs {
					of[i] = g
				}
				g.Funcs = append(g.Funcs, other.Funcs...)
				g.Events = append(g.Events, other.Events...)
				groups = slices.DeleteFunc(groups, func(h *Group) bool { return h == other })
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.Events) // they are disarmed in this order
		slices.Sort(g.Funcs)
	}
	return groups
}
