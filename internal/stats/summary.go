package stats

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Summary holds the numbers of a whole run: the footer of tables, the last line of -o json. The tags are the keys of -o
// json, from which package compare decodes it; the key of a field without a tag is its name in lower case.
type Summary struct {
	// Hits is the kernel's count of probe hits (uprobe_profile). Filtered counts hits that the kernel's filter has
	// dropped: Delivered + Lost + Filtered = Hits. Counted is the part of Delivered at probes that only count calls:
	// for these hits, ftgo reads the kernel's counter, not an event per hit.
	Hits, Delivered, Lost, Filtered, Counted uint64
	// Before and After are the hits outside of the window of the run, while ftgo placed and removed the probes.
	// Before + Hits + After is uprobe_profile.
	Before, After uint64
	Elsewhere     uint64 `json:"-"` // calls in processes that were not selected
	NoCallsReason string `json:"-"` // why no call may have been seen
	Unparsed      uint64 // invalid trace lines
	// Pass is how long it took to read all of the kernel's counters. The counts of two functions may be from times this
	// far apart.
	Pass              time.Duration `json:"pass_ns"`
	Host              string        // host name
	Began             time.Time     // begin of the window: all probes were armed
	Seconds           float64       `json:"-"` // length of the window
	Vanished          []int         // processes that have lost probes: some of their calls were not counted
	Probes, Functions int           // sites armed, and functions selected
	Skipped           []Skipped     // functions that were selected but not (fully) probed
	Probing           *Probing      // cost of the probes for the program; nil if unknown
	OwnCPU            time.Duration `json:"own_cpu_ns"` // the CPU time that ftgo used in the window; 0 for a recording
	Clock             string        `json:"-"`          // name of the trace clock ("x86-tsc")
	Kernel            *KernelEvents `json:"events"`     // nil unless requested
	RawLatencies      bool          `json:"-"`          // latencies include the cost of probes
	LatencyMeasured   bool          `json:"-"`          // ftgo probe, not ftgo count
	Streamed          bool          `json:"-"`          // hits were recorded as events, which may be lost; else they were only counted
	Values            *TopValues    `json:"-"`          // nil unless values have rows
	Pairs             *Pairs        `json:"pairs"`      // nil unless the run is of a pair of functions, --from and --to
	Budget            float64       `json:"-"`          // the share of the program's CPU time that probes may take, 0 for no limit
}

// Counts returns the counters of hits and trace lines.
func (s *Summary) Counts() [8]*uint64 {
	return [...]*uint64{&s.Hits, &s.Delivered, &s.Lost, &s.Filtered, &s.Counted, &s.Before, &s.After, &s.Unparsed}
}

// Add adds the numbers of another run. Fields that describe one run, like Host, Began and Seconds, stay.
func (s *Summary) Add(t *Summary) {
	more := t.Counts()
	for i, n := range s.Counts() {
		*n += *more[i]
	}
	s.Probes += t.Probes
	s.Functions += t.Functions
	s.OwnCPU = time.Duration(AddUp(int64(s.OwnCPU), int64(t.OwnCPU)))
	s.Pass = max(s.Pass, t.Pass)
	s.Budget = max(s.Budget, t.Budget)
	s.LatencyMeasured, s.Streamed = s.LatencyMeasured || t.LatencyMeasured, s.Streamed || t.Streamed
	s.Skipped = append(s.Skipped, t.Skipped...)
	if t.Probing != nil {
		s.Probing = s.Probing.plus(t.Probing)
	}
	if t.Pairs != nil {
		all := *cmp.Or(s.Pairs, &Pairs{}) // a copy, because copies of s may share Pairs
		all.Add(t.Pairs)
		s.Pairs = &all
	}
	if k := t.Kernel; k != nil {
		all := cmp.Or(s.Kernel, &KernelEvents{})
		s.Kernel = &KernelEvents{Delivered: all.Delivered + k.Delivered, Lost: all.Lost + k.Lost, Unparsed: all.Unparsed + k.Unparsed}
	}
}

// Pairs counts what became of the calls of a pair. A call begins with a value where --from is hit, and arrives where --to is
// hit with the same value.
type Pairs struct {
	Arrived    uint64 `json:"arrived"`
	NotArrived uint64 `json:"not_arrived"` // by the end of the run
	Again      uint64 `json:"begun_again"` // another call began with the same value before they arrived
	Forgotten  uint64 `json:"forgotten"`   // too many later calls were under way
	// The following are no calls: arrivals of calls that had arrived before, of calls that began before the run, and of
	// forgotten calls, and hits whose value could not be read.
	Twice  uint64 `json:"arrived_again"`
	Before uint64 `json:"begun_before"`
	Late   uint64 `json:"arrived_forgotten"`
	Unread uint64 `json:"unreadable"`
	// Outdated: the first calls that arrived are forgotten, so that Before may include some of Twice.
	Outdated bool `json:"outdated"`
}

// Add adds the numbers of q.
func (p *Pairs) Add(q *Pairs) {
	counts := func(p *Pairs) []*uint64 {
		return []*uint64{&p.Arrived, &p.NotArrived, &p.Again, &p.Forgotten, &p.Twice, &p.Before, &p.Late, &p.Unread}
	}
	more := counts(q)
	for i, n := range counts(p) {
		*n += *more[i]
	}
	p.Outdated = p.Outdated || q.Outdated
}

// OwnShare returns OwnCPU as a share of one CPU.
func (s *Summary) OwnShare() float64 {
	if s.Seconds <= 0 {
		return 0
	}
	return s.OwnCPU.Seconds() / s.Seconds
}

// TopValues describes the rows of values: at most Most values have a row, the values with the largest By.
type TopValues struct {
	By      string // calls, time or sum
	Most    int
	Evicted uint64 // how often a value has lost its row to another
	AtMost  uint64 // the upper bound of By for a value without a row
}

// Skipped is a function that was selected but could not be probed, or only in part.
type Skipped struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
}

// KernelEvents counts the kernel events of a run. They have their own ring buffer, and are not included in the counts
// of hits.
type KernelEvents struct {
	Names     []string `json:"-"` // GROUP:EVENT
	Delivered uint64   // events in the traced processes
	Lost      uint64   // events lost because the ring buffer was full, including events of child processes
	Unparsed  uint64   // invalid
}

// Probing is the cost of the probes, in nanoseconds of the program's CPU time.
type Probing struct {
	Emulated float64 `json:"emulated_hit_ns"` // cost of a hit whose instruction the kernel emulates
	Stepped  float64 `json:"stepped_hit_ns"`  // cost of a hit whose instruction the kernel single-steps
	Fault    float64 `json:"-"`               // additional cost of each of Faults
	Faults   uint64  `json:"-"`               // words that hits could not fetch, because a pointer led to unmapped memory
	Change   float64 `json:"-"`               // cost of each of Changes
	Changes  uint64  `json:"-"`               // how often probes were placed and removed during the run, times the CPUs that the program uses
	NS       float64 // total cost
	Low      float64 `json:"ns_low"` // bounds of NS
	High     float64 `json:"ns_high"`
	Others   float64 `json:"others_ns"` // cost for other processes: all processes that run the file hit its probes
	CPU      float64 `json:"cpu_ns"`    // CPU time of the program during the run, 0 if unknown
	// Functions lists the functions whose probes took a large share of CPU, the largest first.
	Functions []FunctionShare `json:"-"`
}

// plus returns the cost of the probes of two runs, each number limited to 1<<62. p may be nil.
func (p *Probing) plus(q *Probing) *Probing {
	sum := func(a, b float64) float64 { return max(min(a+b, 1<<62), -1<<62) }
	all := &Probing{}
	if p == nil {
		all.CPU = sum(0, q.CPU)
		p = &Probing{}
	} else if min(p.CPU, q.CPU) > 0 { // both are known, and so is the sum
		all.CPU = sum(p.CPU, q.CPU)
	}
	all.NS, all.Low, all.High, all.Others = sum(p.NS, q.NS), sum(p.Low, q.Low), sum(p.High, q.High), sum(p.Others, q.Others)
	all.Emulated, all.Stepped = max(p.Emulated, q.Emulated), max(p.Stepped, q.Stepped)
	return all
}

// FunctionShare is the share of a program's CPU time that the probes of a function took.
type FunctionShare struct {
	Function string  `json:"function"`
	Share    float64 `json:"share"`
}

// Fit limits the cost of probes to the program's CPU time, and returns the factor by which it scaled the cost.
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

// largeShare is the least share of the program's CPU time for an entry in Probing.Functions.
const largeShare = 0.1

// Share returns ns as a share of the program's CPU time, 0 if that is unknown.
func (p *Probing) Share(ns float64) float64 {
	if p.CPU == 0 {
		return 0
	}
	return min(ns/p.CPU, 1)
}

// idle is the least CPU time, as a share of one CPU, that Beyond assumes a program to use: a program that uses less can
// spare the time that probes take.
const idle = 0.1

// Beyond reports whether the cost exceeds a budget, a share of the program's CPU time, by more than 10 %, the accuracy
// of the cost. seconds is the length of the run.
func (p *Probing) Beyond(budget, seconds float64) bool {
	return budget > 0 && p.NS > 1.1*budget*max(p.CPU, idle*seconds*1e9)
}

// Add adds a function whose probes cost ns to Functions, if this is a larger share than largeShare.
func (p *Probing) Add(function string, ns float64) {
	if share := p.Share(ns); share > largeShare {
		p.Functions = append(p.Functions, FunctionShare{function, share})
	}
	slices.SortFunc(p.Functions, func(a, b FunctionShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Function, b.Function))
	})
}
