// Package rate chooses functions by how often they are called.
package rate

import (
	"cmp"
	"slices"
)

// Choice decides which functions are timed, and which are left to counting.
//
// With a limit those are timed that are called no more often. Without one the probes of
// all that are timed may take half of the CPU time that the program uses: the functions
// whose probes take most of it are left to counting, as few as it takes.
type Choice struct {
	Funcs []Func
	Limit float64 // in calls per second; 0 if there is none
	// Seconds is the time since the last look, CPUs the program's CPU time in each second of it.
	Seconds, CPUs float64
	Full          bool // no more functions can be timed
}

// Func is how often a function is called, and what became of it.
type Func struct {
	Eligible bool // it can be timed
	Timed    bool
	strikes  int     // how often it was timed, and called too often then
	calls    uint64  // so far
	fresh    uint64  // since the last look
	Cost     float64 // what the probes of a call cost if it is timed, in seconds
	TooOften float64 // the rate for which it was left to counting last; 0 if it was not
}

// Saw takes the number of calls so far.
func (f *Func) Saw(calls uint64) {
	f.fresh = calls - min(f.calls, calls)
	f.calls = calls
}

// slack is how much more often than allowed timed functions may be called: rates vary.
const slack = 1.5

// maxStrikes is how often a function may turn out to be called too often: to time it again
// costs events, and those may be on and off for ever.
const maxStrikes = 2

func (c *Choice) rate(i int) float64 { return float64(c.Funcs[i].fresh) / c.Seconds }

// load is the share of a CPU that the probes of a function take, if it is timed.
func (c *Choice) load(i int) float64 { return c.rate(i) * c.Funcs[i].Cost }

// budget is the share of a CPU that all probes may take.
func (c *Choice) budget() float64 { return c.CPUs / 2 }

// joins tells whether a function that is not timed could be.
func (c *Choice) joins(f *Func) bool {
	return f.Eligible && !c.Full && f.strikes < maxStrikes && f.fresh > 0
}

// fit tells of each function whether it is to be timed as far as there is a choice, and
// whether what is timed has to change for it: else what is timed by now may stay.
func (c *Choice) fit() (fits []bool, over bool) {
	fits = make([]bool, len(c.Funcs))
	var wanted []int
	var sum float64 // of those timed now, and of those that are to join them
	for i := range c.Funcs {
		switch f := &c.Funcs[i]; {
		case f.Timed:
			wanted = append(wanted, i)
			sum += c.load(i)
		case c.joins(f):
			wanted = append(wanted, i)
		}
	}
	if c.Limit > 0 {
		for _, i := range wanted {
			fits[i] = c.rate(i) <= c.Limit
			over = over || c.Funcs[i].Timed && c.rate(i) > slack*c.Limit
		}
		return fits, over
	}
	slices.SortStableFunc(wanted, func(a, b int) int { return cmp.Compare(c.load(a), c.load(b)) })
	left := c.budget()
	for _, i := range wanted {
		if left -= c.load(i); left < 0 {
			break
		}
		if fits[i] = true; !c.Funcs[i].Timed {
			sum += c.load(i)
		}
	}
	return fits, sum > slack*c.budget()
}

// TooHot are the timed functions that are to be left to counting, the hottest first.
func (c *Choice) TooHot() []int {
	var hot []int
	fits, over := c.fit()
	for i := range c.Funcs {
		if over && c.Funcs[i].Timed && !fits[i] && (c.Limit == 0 || c.rate(i) > slack*c.Limit) {
			hot = append(hot, i)
		}
	}
	slices.SortStableFunc(hot, func(a, b int) int { return cmp.Compare(c.load(b), c.load(a)) })
	return hot
}

// Leave notes that a function is left to counting, as it is too hot.
func (c *Choice) Leave(i int) {
	c.Funcs[i].strikes++
	c.Funcs[i].TooOften = c.rate(i)
}

// warmShare is the share of what is allowed from which on a function is likely to become
// too hot: it gets events of its own with its like, since others go with it then.
const warmShare = 0.02

// Pick chooses at most so many functions to be timed, of those called since the last look that are
// not; more says that there are others. It notes which are called too often.
func (c *Choice) Pick(most int) (funcs []int, more bool) {
	fits, _ := c.fit()
	var warm, cold []int
	for i := range c.Funcs {
		f := &c.Funcs[i]
		if f.Timed || !c.joins(f) {
			continue
		}
		share := c.rate(i) / c.Limit
		if c.Limit == 0 {
			share = c.load(i) / c.budget()
		}
		f.TooOften = 0
		switch {
		case !fits[i]:
			f.TooOften = c.rate(i)
		case share > warmShare:
			warm = append(warm, i)
		default:
			cold = append(cold, i)
		}
	}
	for _, funcs := range [][]int{warm, cold} {
		slices.SortStableFunc(funcs, func(a, b int) int { return cmp.Compare(c.load(a), c.load(b)) })
		slices.Reverse(funcs) // those that are called most tell most
	}
	if len(warm) > 0 {
		return warm[:min(most, len(warm))], len(warm) > most || len(cold) > 0
	}
	return cold[:min(most, len(cold))], len(cold) > most
}
