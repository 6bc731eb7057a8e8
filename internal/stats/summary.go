package stats

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Summary is what holds for a whole run: the footer of tables, the last JSON line.
//
// The tags are the keys of -o json that have a field as it is.
type Summary struct {
	// Hits is the kernel's count of probe hits (uprobe_profile). Filtered are those that the kernel's
	// filter has dropped: Delivered + Lost + Filtered = Hits. Counted only counted calls: they
	// have no other purpose, and are delivered by the kernel's counter.
	Hits, Delivered, Lost, Filtered, Counted uint64
	// Before and After are hits outside of the window that everything else is of: while the
	// probes were being put into place and removed. Before + Hits + After is uprobe_profile.
	Before, After uint64
	// Elsewhere are calls in processes that were not wanted. Unseen says why there may be no others.
	Elsewhere uint64 `json:"-"`
	Unseen    string `json:"-"`
	Unparsed  uint64 // trace lines that were not understood
	// Pass is how long reading all of the kernel's counters took: those of two functions may
	// be of moments so far apart.
	Pass              time.Duration `json:"pass_ns"`
	Host              string        // the machine, as it names itself
	Began             time.Time     // the window: all probes were armed
	Seconds           float64       `json:"-"` // the length of the window
	Vanished          []int         // processes that have lost probes: not all of their calls were counted
	Probes, Functions int           // sites armed, and functions selected
	Skipped           []Skipped     // functions that were selected but not (fully) probed
	Probing           *Probing      // what the probes cost the program; nil if that is not known
	Own               time.Duration `json:"own_cpu_ns"` // the CPU time that ftgo has used meanwhile; 0 of a recording
	Clock             string        `json:"-"`          // the name of the trace clock used ("x86-tsc")
	Kernel            *KernelEvents `json:"events"`     // nil if none were asked for
	AsSeen            bool          `json:"-"`          // latencies have in them what probes cost, all of them
	LatencyMeasured   bool          `json:"-"`          // tells probe (true) from count (false)
	Streamed          bool          `json:"-"`          // hits were recorded, and so may be lost; else they were only counted
	Values            *TopValues    `json:"-"`          // what became of the rows of values; nil if there are none
	Budget            float64       `json:"-"`          // the share of the program's CPU time that probes may take, 0 if there is no limit
}

// Add adds another run, of another time or machine, but for what tells when and where it was.
func (s *Summary) Add(t *Summary) {
	s.Hits += t.Hits
	s.Delivered += t.Delivered
	s.Lost += t.Lost
	s.Filtered += t.Filtered
	s.Counted += t.Counted
	s.Before += t.Before
	s.After += t.After
	s.Unparsed += t.Unparsed
	s.Probes += t.Probes
	s.Functions += t.Functions
	s.Own = time.Duration(AddUp(int64(s.Own), int64(t.Own)))
	s.Pass = max(s.Pass, t.Pass)
	s.Budget = max(s.Budget, t.Budget)
	s.LatencyMeasured, s.Streamed = s.LatencyMeasured || t.LatencyMeasured, s.Streamed || t.Streamed
	s.Skipped = append(s.Skipped, t.Skipped...)
	if t.Probing != nil {
		s.Probing = s.Probing.plus(t.Probing)
	}
	if k := t.Kernel; k != nil {
		all := cmp.Or(s.Kernel, &KernelEvents{})
		s.Kernel = &KernelEvents{Delivered: all.Delivered + k.Delivered, Lost: all.Lost + k.Lost, Unparsed: all.Unparsed + k.Unparsed}
	}
}

// OwnShare is Own as a share of one CPU.
func (s *Summary) OwnShare() float64 {
	if s.Seconds <= 0 {
		return 0
	}
	return s.Own.Seconds() / s.Seconds
}

// TopValues tells which values have rows: those with most of By, as far as Most goes.
type TopValues struct {
	By   string // calls, time or sum
	Most int
	// Evicted is how often a value has lost its row to another; one without weighs at most AtMost.
	Evicted, AtMost uint64
}

// Skipped is a function that was selected but could not be probed, and why.
type Skipped struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
}

// KernelEvents says what became of the kernel events of a run. They have a ring buffer of
// their own and take no part in the books of hits.
type KernelEvents struct {
	Names []string `json:"-"` // GROUP:EVENT each
	// Delivered happened in the traced processes; Lost is what the buffer had no room for,
	// of these and of those they started; Unparsed could not be read.
	Delivered, Lost, Unparsed uint64
}

// Probing is what probes cost the program, in nanoseconds of its time.
type Probing struct {
	Emulated float64 `json:"emulated_hit_ns"` // what a hit costs, by what the kernel does with the instruction
	Stepped  float64 `json:"stepped_hit_ns"`
	Fault    float64 `json:"-"` // what it costs more for each of Faults
	Faults   uint64  `json:"-"` // words that hits were to fetch, with no memory where a pointer led
	Change   float64 `json:"-"` // what each of Changes takes
	Changes  uint64  `json:"-"` // how often probes were placed and removed meanwhile, on each CPU that the program uses
	NS       float64 // what all that takes, at least Low and at most High
	Low      float64 `json:"ns_low"`
	High     float64 `json:"ns_high"`
	Others   float64 `json:"others_ns"` // what hits of other processes cost these: the file is probed for all
	CPU      float64 `json:"cpu_ns"`    // the time that the program used meanwhile, 0 if that is not known
	// Functions are those whose probes took a large part of it, the largest first.
	Functions []FunctionShare `json:"-"`
}

// plus is what the probes of two runs cost, of which p may be nil, as far as an int64 goes.
func (p *Probing) plus(q *Probing) *Probing {
	sum := func(a, b float64) float64 { return max(min(a+b, 1<<62), -1<<62) }
	all := &Probing{}
	if p == nil {
		all.CPU = sum(0, q.CPU)
		p = &Probing{}
	} else if min(p.CPU, q.CPU) > 0 { // else that of one is not known, nor of all
		all.CPU = sum(p.CPU, q.CPU)
	}
	all.NS, all.Low, all.High, all.Others = sum(p.NS, q.NS), sum(p.Low, q.Low), sum(p.High, q.High), sum(p.Others, q.Others)
	all.Emulated, all.Stepped = max(p.Emulated, q.Emulated), max(p.Stepped, q.Stepped)
	return all
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
