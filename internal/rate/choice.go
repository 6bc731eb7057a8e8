package rate

import (
	"cmp"
	"math"
	"slices"
)

// Choice keeps what probes take of a program's CPU time within a share of it: functions go from
// timed to counted, and from counted to off, the hottest first, and come back when they are cooler.
//
// After each look at the program Hot tells which probes to disarm, and Raise which to arm, one group
// after the other, and Done takes note.
type Choice struct {
	Funcs []Func
	Share float64 // that probes may take of the program's CPU time; 0 is no limit
	Limit float64 // in calls per second: what is called more often is not timed; 0 is no limit
	// Change is what it takes to place or to remove a probe, in seconds: on each CPU that the program uses
	// the kernel interrupts it, because its code changes.
	Change float64
	// Base is the index of what stands for probes of the runtime, without which nothing can be timed;
	// -1 is none.
	Base int
	// Trials: what was too hot may be tried now, because a look will come soon.
	Trials bool
	// Full: no more groups can be made, but those of functions that have had none. Those that were made
	// can be armed again.
	Full bool

	now    float64  // of the last look, or later
	looked float64  // when the last look was
	cpus   float64  // the program's CPU time in each second, at the last look
	sum    float64  // what all probes took then, in seconds per second
	clean  float64  // what they would take if they did not slow the program down
	beyond float64  // by how much more than that the program may have been slowed down
	room   float64  // what more may be armed, in the same unit
	credit float64  // CPU time for trying what was too hot, in seconds
	debt   float64  // CPU time that probes took beyond what they may, in seconds
	placed float64  // CPU time that placing and removing probes took since the last look, in seconds
	places float64  // CPU time for placing more, in seconds; nothing is placed while it is below 0
	hot    []*Group // to be disarmed, the hottest first
	others bool     // the last group that was armed was of functions that had had probes
}

const (
	// slack is how much more than allowed probes may take until functions are lowered, and then to
	// target; others come back up to comeback. Between these nothing changes, because rates vary.
	slack, target, comeback = 1.1, 0.9, 0.75
	// leastCPUs is what a program is taken to use at least: one that uses less than that of a CPU
	// has the time to spare.
	leastCPUs = 0.1
	// mostShare is the most that probes are taken to have of a program's time: that is not known well.
	mostShare = 0.75
	// likelyShare is the most that they are likely to have: beyond that a small error makes a large factor.
	likelyShare = 0.85
	// trial is how long, in seconds, what comes back is seen until it is found to be too hot, and
	// disarmed. Trials together may take trialShare of what is allowed.
	trial, trialShare = 0.2, 0.25
	// placeShare is the part of what is allowed that placing and removing probes may take. Even where next
	// to nothing is allowed leastPlaced come or go in a second.
	placeShare, leastPlaced = 0.5, 100
	// repay is the time, in seconds, over which a debt is paid back, and mostDebt the time that what is
	// allowed is remembered for at most. leastPaid of what is allowed stays for probes even so: what is
	// seldom called costs next to nothing.
	repay, mostDebt, leastPaid = 5, 30, 0.25
	// In the first time, in seconds, all that is hot is found out at once, of which firstDebt is remembered at most.
	first, firstDebt = 0.5, 1
	// moment is the time, in seconds, for which a debt of what is allowed in that is none to act upon.
	moment = 0.1
	// warm is the share of what is allowed from which on a function is likely to become too hot: it
	// shares a group with few others, because they go with it. So does what was too hot once; if that was
	// more often it is alone.
	warm, warmFuncs = 0.02, 8
)

// Start notes which groups are armed from the beginning, at the time 0. What happens is looked at from now
// on. Functions that are in none come later: Raise tells when.
func (c *Choice) Start(groups []*Group, now float64) {
	c.now, c.looked = now, now
	for _, g := range groups {
		g.Armed = true
		for _, i := range g.Funcs {
			c.Funcs[i].groups[g.Level], c.Funcs[i].at = g, g.Level
		}
	}
}

// allowed is the CPU time that probes may take, in seconds per second.
func (c *Choice) allowed() float64 {
	if c.Share == 0 {
		return math.Inf(1)
	}
	return c.Share * max(c.cpus, leastCPUs)
}

// left is what is allowed less what pays back a debt: a function that turns hot takes too much until
// that is seen, and all probes together are to keep to their share even so.
func (c *Choice) left() float64 {
	return max(c.allowed()-c.debt/repay, leastPaid*c.allowed())
}

// capacity is the same as if probes did not slow the program down.
func (c *Choice) capacity() float64 { return c.left() / (1 - min(c.Share, mostShare)) }

// Over tells whether probes took more than they may at the last look, and not for a moment only.
func (c *Choice) Over() bool { return c.owes() && c.sum > slack*c.left() }

func (c *Choice) owes() bool { return c.debt > moment*c.allowed() }

// Alarming tells whether CPU time that probes took is all that they may take in a second.
func (c *Choice) Alarming(spent float64) bool { return spent > c.allowed() }

// Look takes what has happened until now, in seconds since the start: the program's CPU time in each
// second since the look before, and of each function the number of calls so far, and what its probes
// have cost since then.
func (c *Choice) Look(now, cpus float64, of func(i int) (calls uint64, cost float64)) {
	type sample struct {
		calls uint64
		cost  float64
	}
	samples := make([]sample, len(c.Funcs))
	spent, seconds := 0.0, now-c.looked
	for i := range c.Funcs {
		samples[i].calls, samples[i].cost = of(i)
		spent += samples[i].cost
	}
	c.cpus, c.clean = cpus, 0
	share := spent / seconds / max(cpus, leastCPUs)
	speedup := 1 / (1 - min(share, mostShare))
	c.beyond = 1 / (1 - min(share, likelyShare)) / speedup
	for i, s := range samples {
		f := &c.Funcs[i]
		if f.saw(s.calls, s.cost, c.looked, now, speedup, c.beyond); i == c.Base && f.rate > 0 {
			f.Cost[Timed] = f.load / f.clean
		}
		c.clean += f.loadAt(f.at)
	}
	c.sum = c.clean / speedup
	if c.Share > 0 {
		most := map[bool]float64{false: mostDebt, true: firstDebt}[now < first]
		c.debt = min(max(c.debt+spent+c.placed-c.allowed()*seconds, 0), most*c.allowed())
	}
	c.placed = 0
	c.places = min(c.places+placeShare*c.allowed()*seconds, placeShare*c.allowed())
	c.credit = min(c.credit+trialShare*c.allowed()*seconds, max(1, cpus))
	c.now, c.looked = now, now
	c.room = comeback*c.capacity() - c.clean
	c.lower()
}

// lower finds what is too hot.
func (c *Choice) lower() {
	c.hot = c.hot[:0]
	to := make(map[int]Level)
	order := c.hottest()
	for _, i := range order {
		if f := &c.Funcs[i]; c.Limit > 0 && f.at == Timed && f.Counts && f.rate > slack*c.Limit {
			to[i] = Counted
		}
	}
	if c.Over() {
		c.cool(order, to)
	}
	if _, ok := to[c.Base]; ok {
		for i := range c.Funcs {
			if _, lowered := to[i]; !lowered && c.Funcs[i].at == Timed {
				to[i] = c.Funcs[i].below(Timed)
				order = append(order, i)
			}
		}
	}
	for _, i := range order {
		level, lowered := to[i]
		if !lowered {
			continue
		}
		f := &c.Funcs[i]
		f.strike(level, c.now)
		f.clean *= c.beyond
		for l := Timed; l > level; l-- {
			if g := f.groups[l]; g != nil && g.Armed && !slices.Contains(c.hot, g) {
				c.hot = append(c.hot, g)
			}
		}
	}
}

// Lowered is the number of functions that were ever too hot.
func (c *Choice) Lowered() (n int) {
	for i := range c.Funcs {
		if c.Funcs[i].strikes > 0 && i != c.Base {
			n++
		}
	}
	return n
}

// hottest are the functions whose probes take any time, those that take most of it first.
func (c *Choice) hottest() (order []int) {
	for i := range c.Funcs {
		if f := &c.Funcs[i]; (f.at != Off || f.full) && f.load > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(c.Funcs[b].loadAt(c.Funcs[b].at), c.Funcs[a].loadAt(c.Funcs[a].at))
	})
	return order
}

// cool lowers whichever function is the hottest by one level, again and again until it is enough.
func (c *Choice) cool(order []int, to map[int]Level) {
	sum, enough := c.clean, target*c.capacity()
	// Those that were lowered and are not off yet, beside the others in order.
	var again []int
	for next := 0; sum > enough && next+len(again) < len(order)+len(again); {
		i, load := -1, 0.0
		if next < len(order) {
			i = order[next]
			load = c.Funcs[i].loadAt(c.Funcs[i].at)
		}
		at := -1
		for k, j := range again {
			if l := c.Funcs[j].loadAt(to[j]); i < 0 || l > load {
				i, load, at = j, l, k
			}
		}
		f := &c.Funcs[i]
		level := f.at
		if at >= 0 {
			level = to[i]
			again = slices.Delete(again, at, at+1)
		} else {
			next++
		}
		lower := f.below(level)
		if f.at == Off {
			to[i] = Off
			sum -= load
			continue
		}
		if lower == level || load == 0 {
			continue
		}
		to[i] = lower
		sum -= load - f.loadAt(lower)
		if f.below(lower) != lower {
			again = append(again, i)
		}
	}
}

// Hot are the groups that are to be disarmed, the hottest first.
func (c *Choice) Hot() []*Group { return slices.Clone(c.hot) }

// Done notes that the group which Hot or Raise has told was disarmed, or armed, at a time.
func (c *Choice) Done(g *Group, now float64) {
	if g.Armed = !g.Armed; g.Armed {
		c.others = !g.First
	}
	c.now = max(c.now, now)
	c.hot = slices.DeleteFunc(c.hot, func(h *Group) bool { return h == g })
	for _, i := range g.Funcs {
		f := &c.Funcs[i]
		was := f.at
		if g.Armed {
			f.groups[g.Level] = g
		}
		at := Off
		counted, timed := f.groups[Counted], f.groups[Timed]
		counts := counted != nil && counted.Armed
		switch {
		case timed != nil && timed.Armed && (counts || !timed.Beside):
			at = Timed
		case counts:
			at = Counted
		}
		f.set(at, now)
		switch {
		case at > was:
			if c.room -= f.clean * (f.Cost[at] - f.Cost[was]); at >= f.back {
				f.back = Off
			}
			if f.came = now; f.above(at) == at {
				f.tooHot = 0
			}
		case at < was:
			c.room += f.load - f.clean*f.Cost[at]
			if f.retry <= now || f.ceiling >= was { // for another's sake
				f.back = max(f.back, was)
			}
		}
	}
}

// Changed notes that so many probes were placed, or removed, and tells how often the program was
// interrupted for that, on all CPUs that it uses.
func (c *Choice) Changed(probes int) (times float64) {
	times = float64(probes) * c.cpus
	c.placed += times * c.Change
	c.places -= min(times*c.Change, float64(probes)/leastPlaced*placeShare*c.allowed())
	return times
}

// Drop gives up a group that could not be armed: its functions stay where they are, and so do those that
// never had probes.
func (c *Choice) Drop(g *Group) {
	for i := range c.Funcs {
		if f := &c.Funcs[i]; f.unplaced() || slices.Contains(g.Funcs, i) {
			f.ceiling, f.retry, f.back = f.at, math.Inf(1), Off
		}
	}
}
