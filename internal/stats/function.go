// Package stats knows what is kept of calls once they are told apart: counts per
// function, latency histograms of bounded size, and the difference between two
// looks at them. Where calls come from (trace lines, pairing) and what rows look
// like on paper is left to others.
package stats

import (
	"slices"
	"time"
)

// Function is one row: what is known of the calls of one function.
// Calls = Completed + Unwound + Open + Unfinished + Lost + CountedOnly.
type Function struct {
	Name        string
	Func        int    // the function's index in Plan.Funcs
	PID         int    // the process, where each has rows of its own; 0 are others, or ones unknown
	Calls       uint64 // begun while traced, by the kernel's own count
	Completed   uint64 // have returned, their latencies are in Latency
	Unwound     uint64 // were left by panic, Goexit or the end of their goroutine
	Open        uint64 // had not ended when tracing did
	Unfinished  uint64 // are Unwound or Open where the kernel keeps latencies and does not tell these apart
	Lost        uint64 // are calls whose end, or which altogether, the stream lost
	CountedOnly uint64 // were counted and not timed, before and after the function was, or all along
	// Unsure is how many of the calls may be none: lost hits at a stack check, which may have
	// failed. It is 0 unless calls are seen to begin there.
	Unsure uint64
	// TooOften is the rate, in calls per second, for which the function was left to
	// counting in the end; 0 if it was not.
	TooOften float64
	// Errors is how many of the completed calls returned an error; ReturnsErrors tells
	// that it was looked at: the last result is an error.
	Errors        uint64
	ReturnsErrors bool
	// Latency holds the completed calls' durations in nanoseconds, net of what probes cost if that
	// is known; nil when latency was not measured (count mode). Bounds say how far they may be
	// off; nil where it is not known what probes cost. Split is what they were divided into; zero
	// if nobody asked for it.
	Latency *Histogram
	Bounds  *Bounds
	Split   Split
	// Events counts the kernel events of --with that happened in its calls and in nothing
	// traced within them, in the order of KernelEvents.Names; nil without any.
	Events []uint64
	Note   string // what the row can't promise ("entry only: no return site")
}

// Summary is what holds for a whole run: the footer of tables, the last JSON line.
type Summary struct {
	// Hits is the kernel's count of probe hits (uprobe_profile). Filtered are those that the kernel's
	// filter has dropped: Delivered + Lost + Filtered = Hits. Counted only counted calls: they
	// have no other purpose, and are delivered by the kernel's counter.
	Hits, Delivered, Lost, Filtered, Counted uint64
	// Before and After are hits outside of the window that everything else is of: while the
	// probes were being put into place and removed. Before + Hits + After is uprobe_profile.
	Before, After uint64
	Unparsed      uint64 // trace lines that were not understood
	// Pass is how long reading all of the kernel's counters took: those of two functions may
	// be of moments so far apart.
	Pass              time.Duration
	Seconds           float64       // the length of the window: all probes were armed
	Vanished          []int         // processes that have lost probes: not all of their calls were counted
	Probes, Functions int           // sites armed, and functions selected
	Skipped           []Skipped     // functions that were selected but not (fully) probed
	Probing           *Probing      // what the probes cost the program; nil if that is not known
	Clock             string        // the name of the trace clock used ("x86-tsc")
	Kernel            *KernelEvents // nil if none were asked for
	Bucketed          bool          // the kernel kept latencies, of which bounds are known
	AsSeen            bool          // latencies have in them what probes cost, all of them
	LatencyMeasured   bool          // tells probe (true) from count (false)
	Streamed          bool          // hits were recorded, and so may be lost; else they were only counted
	// CountFirst: calls were counted first, and functions timed as the target could bear. MaxRate
	// is the rate, in calls per second, above which functions were left to counting; 0 if they
	// were for what the probes of all together cost the target.
	CountFirst bool
	MaxRate    float64
}

// Skipped is a function that was selected but could not be probed, and why.
type Skipped struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
}

// KernelEvents says what became of the kernel events of a run. They have a ring buffer of
// their own and take no part in the books of hits.
type KernelEvents struct {
	Names []string // GROUP:EVENT each
	// Delivered happened in the traced processes; Lost is what the buffer had no room for,
	// of these and of those they started; Unparsed could not be read.
	Delivered, Lost, Unparsed uint64
}

// Row is what one line of a table tells: the calls of a function over a stretch
// of time, which is the whole run or one interval of it.
type Row struct {
	Function
	Rate float64 // calls per second of that stretch, 0 if it had no length
	Raw  bool    // Latency has in it what probes cost, since that may be all of it
}

// NewRow returns the row of f over the given seconds. Its latencies are raw if of what was
// seen of a typical call all may be probes'.
func NewRow(f Function, seconds float64) Row {
	row := Row{Function: f}
	if b := f.Bounds; b != nil && f.Latency.Count() > 0 && b.typicalShare() == 0 {
		row.ShowRaw()
	}
	if seconds > 0 {
		row.Rate = float64(f.Calls) / seconds
	}
	return row
}

// ShowRaw leaves in latencies what probes cost.
func (r *Row) ShowRaw() {
	if r.Raw || r.Bounds == nil {
		return
	}
	r.Raw, r.Latency = true, &r.Bounds.Raw
	if r.Split.Sum() > 0 {
		r.Split = r.Split.Of(r.Latency.Sum())
	}
}

// Since returns what happened to f after earlier, a copy of it, was made: all of it where that is the
// zero Function, which is how copies are made that no longer change with f.Latency. Open stays the
// number of calls open now, so that the parts add up to Calls only over a whole run: a call may begin
// in one interval and complete in the next.
func (f Function) Since(earlier Function) Function {
	f.Calls = grown(f.Calls, earlier.Calls)
	f.Completed = grown(f.Completed, earlier.Completed)
	f.Unwound = grown(f.Unwound, earlier.Unwound)
	f.Lost = grown(f.Lost, earlier.Lost)
	f.Unsure = grown(f.Unsure, earlier.Unsure)
	f.CountedOnly = grown(f.CountedOnly, earlier.CountedOnly)
	f.Errors = grown(f.Errors, earlier.Errors)
	f.Split = f.Split.since(earlier.Split)
	f.Events = slices.Clone(f.Events)
	for i := range min(len(f.Events), len(earlier.Events)) {
		f.Events[i] = grown(f.Events[i], earlier.Events[i])
	}
	f.Latency, f.Bounds = f.Latency.Since(earlier.Latency), f.Bounds.since(earlier.Bounds)
	return f
}

// grown never goes below zero: Lost shrinks when a late line arrives after all.
func grown(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}

// Split divides durations, in nanoseconds.
type Split struct {
	// Running had a CPU, Runnable could have gone on with one, or with a thread; Waiting
	// waited for something else.
	Running, Runnable, Waiting int64
}

// Sum is what was divided.
func (s Split) Sum() int64 { return s.Running + s.Runnable + s.Waiting }

// Add adds the parts of another one.
func (s *Split) Add(t Split) {
	s.Running += t.Running
	s.Runnable += t.Runnable
	s.Waiting += t.Waiting
}

func (s Split) since(earlier Split) Split {
	return Split{s.Running - earlier.Running, s.Runnable - earlier.Runnable, s.Waiting - earlier.Waiting}
}

// Of makes the parts add up to ns, which is what is left when the cost of probes has been
// taken off: the program was running when it paid that.
func (s Split) Of(ns int64) Split {
	s.Running += ns - s.Sum()
	s.Runnable += min(s.Running, 0)
	s.Running = max(s.Running, 0)
	s.Waiting += min(s.Runnable, 0)
	s.Runnable = max(s.Runnable, 0)
	return s
}
