// Package stats knows what is kept of calls once they are told apart: counts per
// function, latency histograms of bounded size, and the difference between two
// looks at them. Where calls come from (trace lines, pairing) and what rows look
// like on paper is left to others.
package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Function is one row: what is known of the calls of one function.
// Calls = Completed + Unwound + Open + Lost + CountedOnly.
type Function struct {
	Name   string
	Func   int    // the function's index in Plan.Funcs
	Serial uint64 // tells rows apart, be it those of two tables
	PID    int    // the process, where each has rows of its own; 0 are others, or ones unknown
	Host   string // the machine, where each has rows of its own
	// Value is what the calls have in common, where values have rows of their own, and Rest tells
	// whether it is one. Among the others' calls are at most so many of the value as Missed, or calls
	// that weigh so much, by what rows are kept for.
	Value  string
	Rest   Rest
	Missed uint64

	Calls       uint64 // begun while traced, by the kernel's own count
	Completed   uint64 // have returned, their latencies are in Latency
	Unwound     uint64 // were left by panic, Goexit or the end of their goroutine
	Open        uint64 // had not ended when tracing did
	Lost        uint64 // are calls whose end, or which altogether, the stream lost
	CountedOnly uint64 // were counted and not timed
	// Unsure is how many of the calls may be none: lost hits at a stack check, which may have
	// failed. It is 0 unless calls are seen to begin there.
	Unsure uint64
	// Whole estimates all calls where a budget kept the function from being watched all the time; nil if it was, and then
	// Calls are exact. CutShort of the calls were timed, and nobody watched any more when they ended.
	Whole    *Whole
	CutShort uint64
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
	Self    int64 // the sum of Latency without that of timed calls nested in these, as far as it is known what probes cost
	Split   Split
	Waits   Waits    // what Split.Waiting is of, as far as that is known
	Amounts *Amounts // nil if nobody asked for any
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
	// Elsewhere are calls in processes that were not wanted. Unseen says why there may be no others.
	Elsewhere uint64
	Unseen    string
	Unparsed  uint64 // trace lines that were not understood
	// Pass is how long reading all of the kernel's counters took: those of two functions may
	// be of moments so far apart.
	Pass              time.Duration
	Host              string        // the machine, as it names itself
	Began             time.Time     // the window: all probes were armed
	Seconds           float64       // the length of the window
	Vanished          []int         // processes that have lost probes: not all of their calls were counted
	Probes, Functions int           // sites armed, and functions selected
	Skipped           []Skipped     // functions that were selected but not (fully) probed
	Probing           *Probing      // what the probes cost the program; nil if that is not known
	Own               time.Duration // the CPU time that ftgo has used meanwhile; 0 of a recording
	Clock             string        // the name of the trace clock used ("x86-tsc")
	Kernel            *KernelEvents // nil if none were asked for
	AsSeen            bool          // latencies have in them what probes cost, all of them
	LatencyMeasured   bool          // tells probe (true) from count (false)
	Streamed          bool          // hits were recorded, and so may be lost; else they were only counted
	Values            *Kept         // what became of the rows of values; nil if there are none
	Budget            float64       // the share of the program's CPU time that probes may take, 0 if there is no limit
}

// OwnShare is Own as a share of one CPU.
func (s *Summary) OwnShare() float64 {
	if s.Seconds <= 0 {
		return 0
	}
	return s.Own.Seconds() / s.Seconds
}

// Kept tells which values have rows: those with most of By, as far as Most goes.
type Kept struct {
	By   string // calls, time or sum
	Most int
	// Fell is how often a value has lost its row to another; one without weighs at most AtMost.
	Fell, AtMost uint64
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

// Since returns what happened to f after earlier, a copy of it, was made: all of it where that is the
// zero Function, which is how copies are made that no longer change with f.Latency. Open stays the
// number of calls open now, so that the parts add up to Calls only over a whole run: a call may begin
// in one interval and complete in the next.
func (f Function) Since(earlier Function) Function {
	f.Whole = f.Whole.since(f.Calls, earlier.Whole, earlier.Calls)
	f.Calls, f.CutShort = grown(f.Calls, earlier.Calls), grown(f.CutShort, earlier.CutShort)
	f.Completed = grown(f.Completed, earlier.Completed)
	f.Unwound = grown(f.Unwound, earlier.Unwound)
	f.Lost = grown(f.Lost, earlier.Lost)
	f.Unsure = grown(f.Unsure, earlier.Unsure)
	f.CountedOnly = grown(f.CountedOnly, earlier.CountedOnly)
	f.Errors = grown(f.Errors, earlier.Errors)
	f.Self -= earlier.Self
	f.Split, f.Waits = f.Split.since(earlier.Split), f.Waits.since(earlier.Waits)
	f.Events = slices.Clone(f.Events)
	for i := range min(len(f.Events), len(earlier.Events)) {
		f.Events[i] = grown(f.Events[i], earlier.Events[i])
	}
	f.Latency, f.Bounds = f.Latency.Since(earlier.Latency), f.Bounds.since(earlier.Bounds)
	f.Amounts = f.Amounts.since(earlier.Amounts)
	return f
}

// Add adds the calls of another row.
func (f *Function) Add(g *Function) {
	f.Whole = f.Whole.Plus(f.Calls, g.Whole, g.Calls)
	f.Calls += g.Calls
	f.CutShort += g.CutShort
	f.Completed += g.Completed
	f.Unwound += g.Unwound
	f.Open += g.Open
	f.Lost += g.Lost
	f.Errors += g.Errors
	f.Self = AddUp(f.Self, g.Self)
	f.Split.Add(g.Split)
	for reason, ns := range g.Waits {
		if f.Waits == nil {
			f.Waits = make(Waits)
		}
		f.Waits[reason] = AddUp(f.Waits[reason], ns)
	}
	if g.Latency != nil {
		f.Latency = cmp.Or(f.Latency, &Histogram{})
		f.Latency.Add(g.Latency)
	}
	if g.Bounds != nil {
		f.Bounds = cmp.Or(f.Bounds, &Bounds{})
		f.Bounds.Raw.Add(&g.Bounds.Raw)
		f.Bounds.Low.Add(&g.Bounds.Low)
		f.Bounds.High.Add(&g.Bounds.High)
	}
	if g.Amounts != nil {
		f.Amounts = cmp.Or(f.Amounts, &Amounts{})
		f.Amounts.Add(&g.Amounts.Histogram)
		f.Amounts.Left += g.Amounts.Left
	}
}

// Rest tells whether a row is of a value.
type Rest uint8

const (
	Valued   Rest = iota
	Unvalued      // of calls whose value is not known: Function.Value is why
	Others        // of the calls of all values that have no row
)

// Amounts add up a number that each call has, like a size, as [Histogram] does latencies. Left are
// calls without: it could not be read, or is negative.
type Amounts struct {
	Histogram
	Left uint64
}

func (a *Amounts) since(earlier *Amounts) *Amounts {
	if a == nil {
		return nil
	}
	earlier = cmp.Or(earlier, &Amounts{})
	return &Amounts{*a.Histogram.Since(&earlier.Histogram), grown(a.Left, earlier.Left)}
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

// Sum is what was divided, at most math.MaxInt64.
func (s Split) Sum() int64 { return AddUp(AddUp(s.Running, s.Runnable), s.Waiting) }

// Add adds the parts of another one, each up to math.MaxInt64: what waits in many goroutines gets there in days.
func (s *Split) Add(t Split) {
	s.Running = AddUp(s.Running, t.Running)
	s.Runnable = AddUp(s.Runnable, t.Runnable)
	s.Waiting = AddUp(s.Waiting, t.Waiting)
}

func (s Split) since(earlier Split) Split {
	return Split{s.Running - earlier.Running, s.Runnable - earlier.Runnable, s.Waiting - earlier.Waiting}
}

// Waits are times that were waited, in nanoseconds, by reason.
type Waits map[string]int64

func (w Waits) since(earlier Waits) Waits {
	w = maps.Clone(w)
	for reason, ns := range earlier {
		w[reason] -= ns
	}
	return w
}

// Reasons are those that anything was waited for, the longest first.
func (w Waits) Reasons() []string {
	reasons := slices.SortedFunc(maps.Keys(w), func(a, b string) int {
		return cmp.Or(cmp.Compare(w[b], w[a]), strings.Compare(a, b))
	})
	return slices.DeleteFunc(reasons, func(reason string) bool { return w[reason] <= 0 })
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

// Timing is how long a call took, in nanoseconds: Raw as it was seen, with what probes took
// of it; Net without that, as far as it is known, which is from Low to High.
type Timing struct{ Raw, Net, Low, High int64 }

// Bounds say how far net latencies may be off. They hold a value of each call, between which
// the call's real latency is; so the same share of the real latencies is between the same
// quantiles of Low and High.
type Bounds struct {
	Raw, Low, High Histogram
	// Waiting is the share of time that the program waited for a CPU in, which may be the
	// tracer's doing: the bounds of a Statistic have it.
	Waiting float64
}

// Time records a call that returned in Latency. Where it is not known what probes cost, Raw is all
// there is.
func (f *Function) Time(t Timing, known bool) {
	if !known {
		f.Latency.Record(t.Raw)
		return
	}
	f.Latency.Record(t.Net)
	if f.Bounds == nil {
		f.Bounds = &Bounds{}
	}
	f.Bounds.Raw.Record(t.Raw)
	f.Bounds.Low.Record(t.Low)
	f.Bounds.High.Record(t.High)
}

// since is as [Histogram.Since].
func (b *Bounds) since(earlier *Bounds) *Bounds {
	if b == nil {
		return nil
	}
	earlier = cmp.Or(earlier, &Bounds{})
	return &Bounds{*b.Raw.Since(&earlier.Raw), *b.Low.Since(&earlier.Low), *b.High.Since(&earlier.High), b.Waiting}
}

// typicalShare is how much of what was seen of a typical call is at least its own: of a median
// one, or of a fast one, which had to wait for nothing.
func (b *Bounds) typicalShare() float64 {
	share := 1.0
	for _, q := range [...]float64{0.1, 0.5} {
		if raw := b.Raw.Quantile(q); raw > 0 {
			share = min(share, float64(b.Low.Quantile(q))/float64(raw))
		}
	}
	return share
}

// Of are the bounds of a statistic. Where calls wait for a CPU, or for others that probes
// keep, those take longer by more than they cost themselves: then probes have the same
// share of it as of a typical call.
func (b *Bounds) Of(s Statistic) (low, high int64) {
	low, high = s.Of(&b.Low), s.Of(&b.High)
	low = min(low, int64(float64(s.Of(&b.Raw))*b.typicalShare()))
	low = int64(float64(low) * (1 - b.Waiting))
	if s.rough {
		low -= low >> (subBits + 1)
		high += high>>(subBits+1) + 1
	}
	return low, high
}
