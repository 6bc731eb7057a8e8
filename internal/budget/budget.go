// Package budget keeps what probes cost a program within a share of its CPU time.
//
// Functions that are called seldom are watched all the time, and their numbers are exact. Functions whose probes
// would take too much are sampled: all of them are watched in the same short stretches of time, which come as often as
// the budget allows, and [Estimates] tells what they did in between.
package budget

import (
	"cmp"
	"math"
	"slices"
)

// Func is a function whose probes cost something.
type Func struct {
	Named bool // the user has named it, rather than a wildcard
	// Runtime: it stands for the probes of the runtime, which are in place only where calls are timed. No calls of it are counted.
	Runtime bool
	// Counted and Timed are what the probes of a call cost, in seconds.
	Counted, Timed float64

	watched bool
	sampled bool
	rate    float64 // in calls per second of the program's own CPU time
	joined  float64 // when it was last found to be hot
	strikes int     // how often that was
	quiet   int     // how many stretches in a row it took little
}

// Kind tells which functions a stretch of time watches.
type Kind uint8

const (
	Count Kind = iota // counts the calls of all sampled functions
	Light             // counts the calls of those of them that take little
	Time              // times the calls of all of them
)

// Budget decides which functions are watched, and when the others are sampled. Times are in seconds.
type Budget struct {
	Share float64 // of the program's CPU time that probes may take
	Funcs []Func
	// Counts: sampled functions can be counted without being timed. Times: calls are timed.
	Counts, Times bool

	now      float64
	cpus     float64 // the program's CPU time in each second, lately
	debt     float64 // CPU time that probes took beyond what they may; below 0 what they may take at once
	turn     int     // of the stretches
	light    []int   // see coolest, and chosenOf, of how many functions they were chosen
	chosenOf int
	cost     [Time + 1]float64 // CPU time that probes take in each second of a stretch of a kind, 0 if there was none yet
}

const (
	// leastCPUs is what a program is taken to use at least: one that uses less than that of a CPU has the time to spare.
	leastCPUs = 0.1
	// moment is the time for which probes may take what the budget allows of a whole CPU, beyond what was saved, before a function counts as
	// hot. What takes less than that is seldom called.
	moment = 0.1
	// kept is the part of the budget that functions may take which are watched all the time, where others are sampled.
	kept = 0.5
	// span is how long the budget is saved for a stretch, and longest how long that may be.
	span, shortest, longest = 0.2, 0.004, 0.2
	// longestDebt is the time for which what probes have taken too much is made up for at most.
	longestDebt = 10
	// careful is how many times as much as it seems probes are taken to cost where that decides which functions are hot.
	careful = 1.3
	// light is the part of the program's time that probes may take in a stretch whose own time is known well.
	light = 0.3
	// A function is watched again after so many stretches in which it took less than calm of the budget, and not before
	// backoff, which doubles each time it is hot again.
	calmStretches, calm, backoff = 8, 0.1, 2.0
)

// Watch says that a function is watched from now on.
func (b *Budget) Watch(fn int) { b.Funcs[fn].watched, b.Funcs[fn].sampled = true, false }

// Rest says that a function is not watched for now, though it is not hot.
func (b *Budget) Rest(fn int) { b.Funcs[fn].watched = false }

// Sample says that a function is sampled from now on, though it is not hot itself.
func (b *Budget) Sample(fn int) {
	if f := &b.Funcs[fn]; !f.sampled {
		f.watched, f.sampled, f.joined = false, true, b.now
	}
}

// CPUs is how many CPUs the program has kept busy lately.
func (b *Budget) CPUs() float64 { return b.cpus }

// Sampled are the functions that are not watched all the time.
func (b *Budget) Sampled() (all []int) {
	for i := range b.Funcs {
		if b.Funcs[i].sampled {
			all = append(all, i)
		}
	}
	return all
}

// Allowed is the CPU time that probes may take in each second.
func (b *Budget) Allowed() float64 { return b.Share * max(b.cpus, leastCPUs) }

// Spend takes what probes have cost in some seconds, in which the program used a CPU time, all in seconds.
func (b *Budget) Spend(seconds, cpu, cost float64) {
	b.now += seconds
	weight := min(seconds/0.5, 1)
	if b.cpus == 0 {
		weight = 1
	}
	if seconds > 0 {
		b.cpus += weight * (cpu/seconds - b.cpus)
	}
	b.debt = min(max(b.debt+cost-b.Share*max(cpu, leastCPUs*seconds), -span*b.Allowed()), longestDebt*b.Allowed())
}

// Paid tells whether probes have taken no more than they may.
func (b *Budget) Paid() bool { return b.debt <= 0 }

// Hot finds the functions that are to be sampled from now on, by what their probes have cost in the last seconds, and what the program has
// used of CPU time meanwhile. Those that the user has named stay before others, the coolest first.
func (b *Budget) Hot(seconds, cpu float64, calls func(fn int) float64, cost func(fn int) float64) (hot []int) {
	all, order := 0.0, make([]int, 0, len(b.Funcs))
	for i := range b.Funcs {
		if b.Funcs[i].watched {
			all += cost(i)
			order = append(order, i)
		}
	}
	allowed := b.Share * max(cpu, leastCPUs*seconds)
	if b.debt <= moment*b.Share*max(b.cpus, 1) || all <= allowed {
		return nil
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if x, y := b.Funcs[i].Named, b.Funcs[j].Named; x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(cost(i), cost(j))
	})
	// Without the probes of hot functions the program is faster, and calls the others more often, too.
	own := max(cpu-careful*all, cpu/50, 1e-6)
	fast := own // what hits cost may be nearly all: until it is known better calls are taken to be the more often
	if all > cpu/4 {
		fast = cpu / 50
	}
	left := kept * b.Share
	for _, i := range order {
		if load := cost(i) / own; load <= left {
			left -= load
			continue
		}
		f := &b.Funcs[i]
		f.watched, f.sampled, f.rate, f.joined, f.quiet = false, true, calls(i)/fast, b.now, 0
		f.strikes++
		hot = append(hot, i)
	}
	return hot
}

// Note takes a stretch: what own time the program had in it, and how many calls a function made.
func (b *Budget) Note(fn int, own, calls float64) {
	f := &b.Funcs[fn]
	if own > 0 {
		f.rate += (calls/own - f.rate) / 2
	}
	if own <= 0 && calls == 0 || own > 0 && f.rate*f.Timed < calm*b.Share {
		f.quiet++
	} else {
		f.quiet = 0
	}
}

// Calm are the functions that are to be watched again.
func (b *Budget) Calm() (calmed []int) {
	for i := range b.Funcs {
		f := &b.Funcs[i]
		if f.sampled && f.quiet >= calmStretches && b.now-f.joined > backoff*math.Exp2(float64(min(f.strikes, 8)-1)) {
			calmed = append(calmed, i)
		}
	}
	return calmed
}

// load is what probes of functions take for each second of the program's own time where calls are only counted.
func (b *Budget) load(fns []int) (load float64) {
	for _, i := range fns {
		load += b.Funcs[i].rate * b.Funcs[i].Counted
	}
	return load
}

// Plan is a stretch of time to come.
type Plan struct {
	Kind    Kind
	Funcs   []int   // that are watched
	Seconds float64 // how long it lasts
	Most    float64 // CPU time that probes may take in it, in seconds: it ends when they have
}

// Next is the next stretch, if the budget allows one by now.
func (b *Budget) Next() (p Plan, ok bool) {
	kinds := b.kinds()
	if len(kinds) == 0 {
		return p, false
	}
	p = Plan{Kind: kinds[b.turn%len(kinds)], Funcs: b.Sampled()}
	if p.Kind == Light {
		p.Funcs = b.coolest()
	}
	each := b.cost[p.Kind]
	if each == 0 { // until it is known all of the program's time
		each = max(b.cpus, leastCPUs)
	}
	saved := span * b.Allowed()
	p.Seconds = min(max(saved/each, shortest), longest)
	p.Most = max(2*saved, shortest*max(b.cpus, leastCPUs))
	if -b.debt < min(0.9*saved, each*p.Seconds) {
		return p, false
	}
	b.turn++
	return p, true
}

// Cost notes what probes have cost in a stretch, and while they came and went, in seconds.
func (b *Budget) Cost(p Plan, cost float64) {
	each := max(cost/p.Seconds, 1e-6)
	if b.cost[p.Kind] > 0 { // it may be less by chance
		each = max(each, b.cost[p.Kind]/2)
	}
	b.cost[p.Kind] = each
}

// kinds are the stretches that take turns. Where counting all functions leaves most of the time to the program its own time is known well
// enough, and so it is where there is one function alone.
func (b *Budget) kinds() (kinds []Kind) {
	all := b.Sampled()
	switch {
	case len(all) == 0:
		return nil
	case b.counted() <= 1 || b.cost[Count] > 0 && b.load(all) <= light:
		kinds = append(kinds, Count)
	default:
		kinds = append(kinds, Light, Count)
	}
	if b.Times {
		if !b.Counts {
			return []Kind{Time}
		}
		kinds = append(kinds, Time)
	}
	return kinds
}

// counted is how many sampled functions have their calls counted.
func (b *Budget) counted() (n int) {
	for i := range b.Funcs {
		if b.Funcs[i].sampled && !b.Funcs[i].Runtime {
			n++
		}
	}
	return n
}

// coolest are the functions that take little together where they are counted. They are the same as long as that is so, and not many more
// would.
func (b *Budget) coolest() []int {
	all := slices.DeleteFunc(b.Sampled(), func(i int) bool { return b.Funcs[i].Runtime })
	stays := func(i int) bool { return b.Funcs[i].sampled }
	if len(b.light) > 0 && b.chosenOf == len(all) && !slices.ContainsFunc(b.light, func(i int) bool { return !stays(i) }) {
		if load := b.load(b.light); load <= 2*light && load > light/4 {
			return b.light
		}
	}
	b.chosenOf = len(all)
	slices.SortStableFunc(all, func(i, j int) int {
		return cmp.Compare(b.Funcs[i].rate*b.Funcs[i].Counted, b.Funcs[j].rate*b.Funcs[j].Counted)
	})
	n := 1
	for n < len(all) && b.load(all[:n+1]) <= light {
		n++
	}
	b.light = slices.Sorted(slices.Values(all[:n]))
	return b.light
}
