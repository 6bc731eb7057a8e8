package rate

import (
	"cmp"
	"slices"
)

// wants is the level that a function is to come back to, or to rise to, by what is known of it alone.
func (c *Choice) wants(i int) Level {
	f := &c.Funcs[i]
	level := f.above(f.at)
	if f.at == Off && f.back == Timed && f.groups[Counted] == nil {
		level = Timed // as it was
	}
	switch {
	case level == f.at || level > f.ceiling && f.retry > c.now, f.unplaced() && c.owes():
		return f.at // of what has had no probes nobody knows whether it is hot
	case level != Timed || i == c.Base:
	case f.back < Timed && f.rate == 0, c.Limit > 0 && f.rate > c.Limit, c.Base >= 0 && c.Funcs[c.Base].at == Off:
		return f.at
	}
	return level
}

// Raise is a group to be armed, of at most so many functions if it is new: of those that come back, or
// are timed because they are called, and, in turn with these, of those that have had no probes before.
// Those do that fit, the coolest first, and what was too hot, in turn, as far as there is credit for a
// trial. It is nil if there is none, or if placing probes has taken too much already.
func (c *Choice) Raise(most int) *Group {
	if c.places < 0 {
		return nil
	}
	type candidate struct {
		i    int
		to   Level
		load float64 // that it adds
	}
	var all []candidate
	for i := range c.Funcs {
		f := &c.Funcs[i]
		if to := c.wants(i); to > f.at {
			all = append(all, candidate{i, to, max(f.clean*(f.Cost[to]-f.Cost[f.at]), 0)})
		} else if f.at == Counted && f.Times && c.Limit > 0 && f.rate > c.Limit {
			f.tooHot = f.rate
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.load, b.load) })
	room := c.room
	var fit, tried []candidate
	for _, a := range all {
		if f := &c.Funcs[a.i]; a.load <= max(room, 0) {
			room -= a.load
			if fit = append(fit, a); f.at == Counted {
				f.tooHot = 0
			}
		} else if a.to == Timed && f.at == Off && f.Counts && f.clean*f.Cost[Counted] <= max(room, 0) {
			a.to, a.load = Counted, f.clean*f.Cost[Counted] // better than not at all
			room -= a.load
			fit = append(fit, a)
		} else if f.at == Off {
			tried = append(tried, a)
		} else {
			f.tooHot = f.rate
		}
	}
	slices.SortStableFunc(tried, func(a, b candidate) int { return cmp.Compare(c.Funcs[a.i].retry, c.Funcs[b.i].retry) })
	trying := -1
	if len(tried) > 0 && c.Trials && c.debt == 0 {
		if cost := min(tried[0].load, max(c.cpus, leastCPUs)) * trial; cost <= c.credit {
			c.credit -= cost
			fit = append(fit, tried[0])
			trying = tried[0].i
		}
	}
	// What is not seen any more comes first, and then what is called most, since it tells most. Of what has
	// had no probes yet that is not known.
	turn := map[bool]int{!c.others: 1}
	slices.SortStableFunc(fit, func(a, b candidate) int {
		return cmp.Or(turn[c.Funcs[a.i].unplaced()]-turn[c.Funcs[b.i].unplaced()], cmp.Compare(a.to, b.to), cmp.Compare(b.load, a.load))
	})
	whole := make(map[*Group]int) // functions of those that may come back together, since there is no room for others
	for i := 0; c.Full && i < len(fit); i++ {
		whole[c.Funcs[fit[i].i].groups[fit[i].to]]++
	}
	for _, a := range fit {
		f := &c.Funcs[a.i]
		beside := a.to == Timed && f.groups[Counted] != nil
		if g := f.groups[a.to]; g != nil && !g.Armed && g.Beside == beside && len(g.Funcs) == max(whole[g], 1) { // else calls would count twice
			g.Tried = slices.Contains(g.Funcs, trying)
			return g
		}
		if c.Full && !f.unplaced() {
			continue
		}
		g := &Group{Level: a.to, Beside: beside, First: f.unplaced()}
		if f.strikes > 1 || a.i == trying {
			g.Funcs, g.Tried = []int{a.i}, a.i == trying
			return g
		}
		isWarm := func(b candidate) bool { return b.load > warm*c.capacity() || c.Funcs[b.i].strikes == 1 }
		if isWarm(a) {
			most = min(most, warmFuncs)
		}
		for _, b := range fit {
			other := &c.Funcs[b.i]
			if b.to == a.to && other.strikes < 2 && b.i != trying && (other.groups[Counted] != nil) == (f.groups[Counted] != nil) &&
				isWarm(b) == isWarm(a) && len(g.Funcs) < most {
				g.Funcs = append(g.Funcs, b.i)
			}
		}
		return g
	}
	return nil
}
