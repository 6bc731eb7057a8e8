package uprobe

import "slices"

// Group is a set of functions and the events that they share, as indexes in Plan.Funcs and Plan.Events.
type Group struct{ Funcs, Events []int }

// Groups returns the groups of all functions with probes, in the order of their first events. All runtime probes belong to
// one group, which may have no functions. The events of a group are in the order in which they are disarmed.
func (p *Plan) Groups() (groups []*Group) {
	// The functions of a group form a tree, in which parent[i] is the parent of function i. A root is its own parent.
	// The last element stands for all runtime probes.
	parent := make([]int, len(p.Funcs)+1)
	for i := range parent {
		parent[i] = i
	}
	root := func(s Site) int {
		i := s.Func
		if i < 0 {
			i = len(p.Funcs)
		}
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, ev := range p.Events {
		for _, s := range ev.Sites {
			parent[root(s)] = root(ev.Sites[0])
		}
	}
	byRoot := make(map[int]*Group)
	for e, ev := range p.Events {
		r := root(ev.Sites[0])
		g := byRoot[r]
		if g == nil {
			g = &Group{}
			byRoot[r] = g
			groups = append(groups, g)
		}
		g.Events = append(g.Events, e)
		for _, s := range ev.Sites {
			if s.Func >= 0 {
				g.Funcs = append(g.Funcs, s.Func)
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.Funcs)
		g.Funcs = slices.Compact(g.Funcs)
	}
	return groups
}
