// Package rate chooses functions by how often they are called.
package rate

import (
	"cmp"
	"slices"
)

// Choice decides which functions are timed.
//
// With a limit those are that are called no more often. Without one the probes of all
// that are timed may take half of the CPU time that the program uses, and functions that
// take least of it come first.
type Choice struct {
	Funcs []Func
	Limit float64 // in calls per second; 0 if there is none
	// Seconds is the time since the last look, CPUs the CPU time that the program used
	// each second of it.
	Seconds, CPUs float64
}

// Func is how often a function is called, and what became of it.
type Func struct {
	Eligible bool // it can be timed
	Timed    bool
	// strikes is how often it was timed, and called too often then.
	strikes int
	calls   uint64 // so far
	fresh   uint64 // since the last look
	// Cost is what the probes of a call cost if it is timed, in seconds.
	Cost float64
	// TooOften is the rate for which it was left to counting last; 0 if it was not.
	TooOften float64
}

// Saw takes the number of calls so far.
func (f *Func) Saw(calls uint64) {
	f.fresh = calls - min(f.calls, calls)
	f.calls = calls
}

// slack is how much more often than allowed functions that are timed may be called, before
// they are left to counting again: rates vary.
const slack = 1.5

// maxStrikes is how often a function may turn out to be called too often: to time it again
// costs events, and those may be on and off for ever.
const maxStrikes = 2

func (c *Choice) rate(i int) float64 { return float64(c.Funcs[i].fresh) / c.Seconds }

// load is the share of a CPU that the probes of a function take, if it is timed.
func (c *Choice) load(i int) float64 { return c.rate(i) * c.Funcs[i].Cost }

// budget is the share of a CPU that all probes may take.
func (c *Choice) budget() float64 { return c.CPUs / 2 }

// TooHot are the timed functions that are to be left to counting.
func (c *Choice) TooHot() map[int]bool {
	hot := make(map[int]bool)
	leave := func(i int) {
		hot[i] = true
		c.Funcs[i].strikes++
		c.Funcs[i].TooOften = c.rate(i)
	}
	var sum float64
	var timed []int
	for i := range c.Funcs {
		if !c.Funcs[i].Timed {
			continue
		}
		if c.Limit > 0 && c.rate(i) > slack*c.Limit {
			leave(i)
		}
		timed = append(timed, i)
		sum += c.load(i)
	}
	if c.Limit > 0 || sum <= slack*c.budget() {
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

// Pick chooses functions to be timed that are not and that were called since the last
// look, at most so many; more says that there are others. The functions that are called
// too often are noted.
func (c *Choice) Pick(most int) (funcs []int, more bool) {
	var called []int
	left := c.budget()
	for i := range c.Funcs {
		f := &c.Funcs[i]
		switch {
		case f.Timed:
			left -= c.load(i)
		case f.Eligible && f.strikes < maxStrikes && f.fresh > 0:
			called = append(called, i)
		}
	}
	slices.SortStableFunc(called, func(a, b int) int { return cmp.Compare(c.load(a), c.load(b)) })
	var warm, cold []int
	for _, i := range called {
		f := &c.Funcs[i]
		share := c.rate(i) / c.Limit
		if c.Limit == 0 {
			share = c.load(i) / c.budget()
			left -= c.load(i)
		}
		f.TooOften = 0
		switch {
		case c.Limit > 0 && share > 1, c.Limit == 0 && left < 0:
			f.TooOften = c.rate(i)
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
