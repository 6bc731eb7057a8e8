package main

import (
	"cmp"
	"slices"
)

// rateChoice decides which functions are timed.
//
// With a limit those are that are called no more often. Without one the probes of all
// that are timed may take half of the CPU time that the program uses, and functions that
// take least of it come first.
type rateChoice struct {
	funcs []rated
	limit float64 // in calls per second; 0 if there is none
	// seconds is the time since the last look, cpus the CPU time that the program used
	// each second of it.
	seconds, cpus float64
}

// rated is how often a function is called, and what became of it.
type rated struct {
	eligible bool
	timed    bool
	// strikes is how often it was timed, and called too often then.
	strikes int
	calls   uint64 // so far
	fresh   uint64 // since the last look
	cost    float64
	// tooOften is the rate for which it was left to counting last; 0 if it was not.
	tooOften float64
}

func (f *rated) saw(calls uint64) {
	f.fresh = calls - min(f.calls, calls)
	f.calls = calls
}

// slack is how much more often than allowed functions that are timed may be called, before
// they are left to counting again: rates vary.
const slack = 1.5

// maxStrikes is how often a function may turn out to be called too often: to time it again
// costs events, and those may be on and off for ever.
const maxStrikes = 2

func (c *rateChoice) rate(i int) float64 { return float64(c.funcs[i].fresh) / c.seconds }

// load is the share of a CPU that the probes of a function take, if it is timed.
func (c *rateChoice) load(i int) float64 { return c.rate(i) * c.funcs[i].cost }

// budget is the share of a CPU that all probes may take.
func (c *rateChoice) budget() float64 { return c.cpus / 2 }

// tooHot are the timed functions that are to be left to counting.
func (c *rateChoice) tooHot() map[int]bool {
	hot := make(map[int]bool)
	leave := func(i int) {
		hot[i] = true
		c.funcs[i].strikes++
		c.funcs[i].tooOften = c.rate(i)
	}
	var sum float64
	var timed []int
	for i := range c.funcs {
		if !c.funcs[i].timed {
			continue
		}
		if c.limit > 0 && c.rate(i) > slack*c.limit {
			leave(i)
		}
		timed = append(timed, i)
		sum += c.load(i)
	}
	if c.limit > 0 || sum <= slack*c.budget() {
		return hot
	}
	slices.SortFunc(timed, func(a, b int) int { return cmp.Compare(c.load(b), c.load(a)) })
	for _, i := range timed {
		if sum <= c.budget() {
			break
		}
		sum -= c.load(i)
		leave(i)
	}
	return hot
}

// warmShare is the share of what is allowed from which on a function is likely to become
// too hot: it gets events of its own with its like, since others go with it then.
const warmShare = 0.02

// pick chooses functions to be timed that are not and that were called since the last
// look, at most so many; more says that there are others. The functions that are called
// too often are noted.
func (c *rateChoice) pick(most int) (funcs []int, more bool) {
	var called []int
	left := c.budget()
	for i := range c.funcs {
		f := &c.funcs[i]
		switch {
		case f.timed:
			left -= c.load(i)
		case f.eligible && f.strikes < maxStrikes && f.fresh > 0:
			called = append(called, i)
		}
	}
	slices.SortStableFunc(called, func(a, b int) int { return cmp.Compare(c.load(a), c.load(b)) })
	var warm, cold []int
	for _, i := range called {
		f := &c.funcs[i]
		share := c.rate(i) / c.limit
		if c.limit == 0 {
			share = c.load(i) / c.budget()
			left -= c.load(i)
		}
		f.tooOften = 0
		switch {
		case c.limit > 0 && share > 1, c.limit == 0 && left < 0:
			f.tooOften = c.rate(i)
		case share > warmShare:
			warm = append(warm, i)
		default:
			cold = append(cold, i)
		}
	}
	// Those that are called most tell most.
	slices.Reverse(warm)
	slices.Reverse(cold)
	if len(warm) > 0 {
		return warm[:min(most, len(warm))], len(warm) > most || len(cold) > 0
	}
	return cold[:min(most, len(cold))], len(cold) > most
}
