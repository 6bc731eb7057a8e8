package stats

import (
	"cmp"
	"slices"
	"strings"
)

// Probing is what probes cost the program, in nanoseconds of its time.
type Probing struct {
	Emulated, Stepped float64 // what a hit costs, by what the kernel does with the instruction
	Fault             float64 // what it costs more for each of Faults
	Faults            uint64  // words that hits were to fetch, with no memory where a pointer led
	Change            float64 // what each of Changes takes
	Changes           uint64  // how often probes were placed and removed meanwhile, on each CPU that the program uses
	NS, Low, High     float64 // what all that takes, at least Low and at most High
	Others            float64 // what hits of other processes cost these: the file is probed for all
	CPU               float64 // the time that the program used meanwhile, 0 if that is not known
	// Functions are those whose probes took a large part of it, the largest first.
	Functions []FunctionShare
}

// FunctionShare is the share of a program's time that the probes of a function took.
type FunctionShare struct {
	Function string  `json:"function"`
	Share    float64 `json:"share"`
}

// Fit takes what probes cost to be no more than the program's CPU time, and returns the factor that its parts
// shrink by.
func (p *Probing) Fit() float64 {
	if p.CPU == 0 || p.NS <= p.CPU {
		p.High = max(p.NS, min(p.High, cmp.Or(p.CPU, p.High)))
		return 1
	}
	factor := p.CPU / p.NS
	p.NS, p.High, p.Low = p.CPU, p.CPU, min(p.Low, p.CPU)
	p.Fault, p.Change = factor*p.Fault, factor*p.Change
	return factor
}

// largeShare is what part of the program's time has a function named.
const largeShare = 0.1

// Share is the part of the program's CPU time that is ns.
func (p *Probing) Share(ns float64) float64 {
	if p.CPU == 0 {
		return 0
	}
	return min(ns/p.CPU, 1)
}

// idle is the part of a CPU that any program is taken to use, as package rate does: one that uses less has the
// time to spare.
const idle = 0.1

// Beyond tells whether it is more than a budget, a share of 1, allows in so many seconds, by a tenth or more: it is not known better.
func (p *Probing) Beyond(budget, seconds float64) bool {
	return budget > 0 && p.NS > 1.1*budget*max(p.CPU, idle*seconds*1e9)
}

// Add names a function whose probes cost so much, if that is a large part.
func (p *Probing) Add(function string, ns float64) {
	if share := p.Share(ns); share > largeShare {
		p.Functions = append(p.Functions, FunctionShare{function, share})
	}
	slices.SortFunc(p.Functions, func(a, b FunctionShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Function, b.Function))
	})
}
