// Package budget keeps the CPU time of probes within a share of the program's CPU time. The rest of the program's CPU
// time is its own time. A function is watched while its probes are in place.
//
// Functions that are seldom called are always watched: their counts are exact. Functions whose probes would exceed the
// budget are sampled: all of them are watched together, in short stretches of time, as often as the budget allows.
// [Estimates] estimates their calls between the stretches.
package budget

import (
	"cmp"
	"math"
	"slices"
)

// Func is a probed function.
type Func struct {
	Named bool // the user has named it; it was not found by a wildcard
	// Runtime marks the element for all runtime probes, which are in place only while calls are timed. It has no calls.
	Runtime bool
	// Counted and Timed are the cost of a call's probes in seconds, if calls are counted and if they are timed.
	Counted, Timed float64

	watched   bool
	sampled   bool
	rate      float64 // calls per second of the program's own CPU time
	sampledAt float64 // when sampling began, or when it was last found to be hot
	timesHot  int     // number of times that it was found to be hot
	quiet     int     // number of stretches in a row in which its probes cost little
}

// Kind is the kind of a stretch.
type Kind uint8

const (
	Count Kind = iota // counts the calls of all sampled functions
	Light             // counts the calls of the cheapest sampled functions
	Time              // times the calls of all sampled functions
)

// Budget decides which functions are always watched, and when the others are watched. All times are in seconds.
type Budget struct {
	Share float64 // of the program's CPU time, for probes
	Funcs []Func
	// Counts allows stretches that count calls without timing them. Times requests stretches that time calls.
	Counts, Times bool

	now        float64
	cpus       float64 // CPUs that the program keeps busy: a moving average
	debt       float64 // CPU time of probes beyond the budget; if negative, saved CPU time
	stretches  int     // number of stretches so far
	lightFuncs []int   // last result of lightest, which chose from lightOf functions
	lightOf    int
	cost       [Time + 1]float64 // CPU time of probes per second of a stretch of each kind; 0 before the kind's first stretch
}

const (
	// minCPUs is the least number of CPUs that the budget is computed with: a program that uses less leaves CPU time
	// unused.
	minCPUs = 0.1
	// Functions become hot only if probes have exceeded the budget by the CPU time that it allows in burst seconds,
	// with at least one busy CPU. Functions that cost less are seldom called.
	burst = 0.1
	// watchedShare is the part of the budget that always watched functions may take when others are sampled.
	watchedShare = 0.5
	// An unused budget is saved for at most savedTime seconds. A stretch lasts between shortest and longest.
	savedTime, shortest, longest = 0.2, 0.004, 0.2
	// maxDebt is the longest time, in seconds, that making up for an exceeded budget takes. More debt is forgotten.
	maxDebt = 10
	// hotMargin is the factor by which the costs of probes are increased when hot functions are chosen.
	hotMargin = 1.3
	// lightShare is the share of the program's CPU time that probes may take in a Light stretch. With so few hits, the
	// program's own time is well known.
	lightShare = 0.3
	// A sampled function is watched again after quietStretches in a row in which its probes cost less than quietShare
	// of the budget, but not before minSampled seconds. This time doubles each time that the function is found to be
	// hot again.
	quietStretches, quietShare, minSampled = 8, 0.1, 2.0
)

// Watch notes that a function is always watched from now on.
func (b *Budget) Watch(fn int) { b.Funcs[fn].watched, b.Funcs[fn].sampled = true, false }

// Unwatch notes that a function has no probes now, although it is not hot.
func (b *Budget) Unwatch(fn int) { b.Funcs[fn].watched = false }

// Sample notes that a function is sampled from now on. The function does not count as hot.
func (b *Budget) Sample(fn int) {
	if f := &b.Funcs[fn]; !f.sampled {
		f.watched, f.sampled, f.sampledAt = false, true, b.now
	}
}

// CPUs returns the number of CPUs that the program keeps busy.
func (b *Budget) CPUs() float64 { return b.cpus }

// Sampled returns the functions that are sampled.
func (b *Budget) Sampled() (all []int) {
	for i := range b.Funcs {
		if b.Funcs[i].sampled {
			all = append(all, i)
		}
	}
	return all
}

// Allowed returns the CPU time that probes may take per second.
func (b *Budget) Allowed() float64 { return b.Share * max(b.cpus, minCPUs) }

// Spend charges the cost of probes in a time of this many seconds. cpu is the program's CPU time in it.
func (b *Budget) Spend(seconds, cpu, cost float64) {
	b.now += seconds
	weight := min(seconds/0.5, 1)
	if b.cpus == 0 {
		weight = 1
	}
	if seconds > 0 {
		b.cpus += weight * (cpu/seconds - b.cpus)
	}
	b.debt = min(max(b.debt+cost-b.Share*max(cpu, minCPUs*seconds), -savedTime*b.Allowed()), maxDebt*b.Allowed())
}

// InDebt reports whether probes have exceeded the budget.
func (b *Budget) InDebt() bool { return b.debt > 0 }

// SampleHot finds the hot functions, whose probes exceed the budget, samples them from now on, and returns them.
// calls[i] is the number of calls of function i, and cost[i] the cost of its probes, in the last seconds, in which the
// program used cpu. SampleHot prefers to keep watching functions that the user has named, and then cheap functions.
func (b *Budget) SampleHot(seconds, cpu float64, calls, cost []float64) (hot []int) {
	all, order := 0.0, make([]int, 0, len(b.Funcs))
	for i := range b.Funcs {
		if b.Funcs[i].watched {
			all += cost[i]
			order = append(order, i)
		}
	}
	allowed := b.Share * max(cpu, minCPUs*seconds)
	if b.debt <= burst*b.Share*max(b.cpus, 1) || all <= allowed {
		return nil
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if x, y := b.Funcs[i].Named, b.Funcs[j].Named; x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(cost[i], cost[j])
	})
	// Without the probes of hot functions the program gets faster, and calls the other functions more often.
	own := max(cpu-hotMargin*all, cpu/50, 1e-6)
	fast := own // own time for rates: if probes take much of the CPU time, own is inexact and may be this short
	if all > cpu/4 {
		fast = cpu / 50
	}
	left := watchedShare * b.Share
	for _, i := range order {
		if load := cost[i] / own; load <= left {
			left -= load
			continue
		}
		f := &b.Funcs[i]
		f.watched, f.sampled, f.rate, f.sampledAt, f.quiet = false, true, calls[i]/fast, b.now, 0
		f.timesHot++
		hot = append(hot, i)
	}
	return hot
}

// AddStretch updates the rate of a function after a stretch. own is the program's own time in the stretch, calls the
// number of the function's calls.
func (b *Budget) AddStretch(fn int, own, calls float64) {
	f := &b.Funcs[fn]
	if own > 0 {
		f.rate += (calls/own - f.rate) / 2
	}
	if own <= 0 && calls == 0 || own > 0 && f.rate*f.Timed < quietShare*b.Share {
		f.quiet++
	} else {
		f.quiet = 0
	}
}

// Quiet returns the sampled functions to watch again.
func (b *Budget) Quiet() (calmed []int) {
	for i := range b.Funcs {
		f := &b.Funcs[i]
		if f.sampled && f.quiet >= quietStretches && b.now-f.sampledAt > minSampled*math.Exp2(float64(min(f.timesHot, 8)-1)) {
			calmed = append(calmed, i)
		}
	}
	return calmed
}

// load returns the cost of counting the calls of functions, per second of the program's own time.
func (b *Budget) load(fns []int) (load float64) {
	for _, i := range fns {
		load += b.Funcs[i].rate * b.Funcs[i].Counted
	}
	return load
}

// Plan describes the next stretch.
type Plan struct {
	Kind    Kind
	Funcs   []int   // to watch
	Seconds float64 // duration
	Most    float64 // limit for the cost of probes, in seconds: the stretch ends when they have cost more
}

// Next returns the next stretch. ok is false if no function is sampled, or if the budget does not allow a stretch yet.
func (b *Budget) Next() (p Plan, ok bool) {
	kinds := b.kinds()
	if len(kinds) == 0 {
		return p, false
	}
	p = Plan{Kind: kinds[b.stretches%len(kinds)], Funcs: b.Sampled()}
	if p.Kind == Light {
		p.Funcs = b.lightest()
	}
	each := b.cost[p.Kind]
	if each == 0 { // unknown: assume that probes take all of the program's time
		each = max(b.cpus, minCPUs)
	}
	saved := savedTime * b.Allowed()
	p.Seconds = min(max(saved/each, shortest), longest)
	p.Most = max(2*saved, shortest*max(b.cpus, minCPUs))
	if -b.debt < min(0.9*saved, each*p.Seconds) {
		return p, false
	}
	b.stretches++
	return p, true
}

// SetCost updates the cost of stretches of the kind of p. cost is the CPU time of the probes in stretch p, including
// their placement and removal.
func (b *Budget) SetCost(p Plan, cost float64) {
	each := max(cost/p.Seconds, 1e-6)
	if b.cost[p.Kind] > 0 { // it may be low by chance
		each = max(each, b.cost[p.Kind]/2)
	}
	b.cost[p.Kind] = each
}

// kinds returns the kinds of stretches, which alternate. Light stretches are needed only if Count stretches take so much
// CPU time that the program's own time in them is not well known. They are not needed for a single function.
func (b *Budget) kinds() (kinds []Kind) {
	all := b.Sampled()
	switch {
	case len(all) == 0:
		return nil
	case len(b.countable()) <= 1 || b.cost[Count] > 0 && b.load(all) <= lightShare:
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

// countable returns the sampled functions without the runtime probes.
func (b *Budget) countable() []int {
	return slices.DeleteFunc(b.Sampled(), func(i int) bool { return b.Funcs[i].Runtime })
}

// lightest returns the functions of a Light stretch: the cheapest ones, which together take lightShare of the program's
// time. It returns the same functions again as long as their cost is similar, because they are compared over many stretches.
func (b *Budget) lightest() []int {
	all := b.countable()
	left := func(i int) bool { return !b.Funcs[i].sampled }
	if len(b.lightFuncs) > 0 && b.lightOf == len(all) && !slices.ContainsFunc(b.lightFuncs, left) {
		if load := b.load(b.lightFuncs); load <= 2*lightShare && load > lightShare/4 {
			return b.lightFuncs
		}
	}
	b.lightOf = len(all)
	slices.SortStableFunc(all, func(i, j int) int {
		return cmp.Compare(b.Funcs[i].rate*b.Funcs[i].Counted, b.Funcs[j].rate*b.Funcs[j].Counted)
	})
	n := 1
	for n < len(all) && b.load(all[:n+1]) <= lightShare {
		n++
	}
	b.lightFuncs = slices.Sorted(slices.Values(all[:n]))
	return b.lightFuncs
}
