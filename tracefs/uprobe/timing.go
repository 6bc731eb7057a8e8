package uprobe

import "slices"

// Timing makes events that time calls of functions that are CountFirst, by their index
// in Funcs; those of functions without returns are left out. They are for
// tracefs.Session.Extend, and not the plan's before [Plan.Join]. Their order is that of
// [New].
func (p *Plan) Timing(funcs []int) []Event {
	c := p.collector
	c.later, c.events, c.open = true, nil, make(map[shape]int)
	c.made = len(p.Events)
	for _, i := range funcs {
		if p.Funcs[i].Returns {
			c.addEntry(i)
		}
	}
	for _, i := range funcs {
		c.addEnds(i)
	}
	return c.sorted()
}

// Join makes events of Timing the plan's, behind those that it has. Names are unique as
// long as what was made is joined before Timing is asked again.
func (p *Plan) Join(events []Event) { p.Events = slices.Concat(p.Events, events) }

// Records tells whether hits of an event are recorded, rather than only counted: none are in
// mode Count, and those of Counters if [Options].Recorded says so.
func (p *Plan) Records(ev *Event) bool {
	return p.Mode != Count && (p.recorded || !ev.IsCounter())
}

// CountsFirst tells whether any function is CountFirst.
func (p *Plan) CountsFirst() bool {
	return slices.ContainsFunc(p.Funcs, func(f Function) bool { return f.CountFirst })
}
