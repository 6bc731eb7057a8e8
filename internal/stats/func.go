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
)

// Func is what is known of the calls of one function: of all of them, of those of one process or host, or of
// those with one value; of a whole run, an interval, or several runs.
// Calls = Completed + Unwound + Open + Lost + CountedOnly.
//
// The tags are the keys of -o json that have a field as it is.
type Func struct {
	Name   string `json:"function"`
	Func   int    `json:"-"` // the function's index in Plan.Funcs
	Serial uint64 `json:"-"` // tells rows apart, be it those of two tables
	Host   string `json:"host"`
	// Value is what the calls have in common, where values have rows of their own, and Kind tells
	// whether it is one. Among the others' calls are at most so many of the value as Missed, or calls
	// that weigh so much, by what rows are kept for.
	Value  string  `json:"-"`
	Kind   RowKind `json:"-"`
	Missed uint64  `json:"-"`

	Seconds     float64 `json:"-"`            // how long calls were counted for, 0 if that is not known
	Calls       uint64  `json:"calls"`        // begun while traced, by the kernel's own count
	Completed   uint64  `json:"completed"`    // have returned, their latencies are in Latency
	Unwound     uint64  `json:"unwound"`      // were left by panic, Goexit or the end of their goroutine
	Open        uint64  `json:"open"`         // had not ended when tracing did
	Lost        uint64  `json:"lost"`         // are calls whose end, or which altogether, the stream lost
	CountedOnly uint64  `json:"counted_only"` // were counted and not timed
	// Unsure is how many of the calls may be none: lost hits at a stack check, which may have
	// failed. It is 0 unless calls are seen to begin there.
	Unsure uint64 `json:"unsure"`
	// Whole estimates all calls where a budget kept the function from being watched all the time; nil if it was, and then
	// Calls are exact. CutShort of the calls were timed, and nobody watched any more when they ended.
	Whole    *Whole `json:"-"`
	CutShort uint64 `json:"cut_short"`
	// Errors is how many of the completed calls returned an error; ReturnsErrors tells
	// that it was looked at: the last result is an error.
	Errors        uint64 `json:"-"`
	ReturnsErrors bool   `json:"-"`
	// Latency holds the completed calls' durations in nanoseconds, net of what probes cost if that
	// is known; nil when latency was not measured (count mode). Bounds say how far they may be
	// off; nil where it is not known what probes cost. [Func.Shown] is what to show of them.
	Latency *Histogram `json:"-"`
	Bounds  *Bounds    `json:"-"`
	Self    int64      `json:"-"` // the sum of Latency without that of timed calls nested in these, as far as it is known what probes cost
	Split   Split      `json:"-"` // what Latency is divided into, zero if nobody asked for it; see [Func.Spent]
	Waits   Waits      `json:"-"` // what Split.Waiting is of, as far as that is known
	Amounts *Amounts   `json:"-"` // nil if nobody asked for any
	// Events counts the kernel events of --with that happened in its calls and in nothing
	// traced within them, by their names.
	Events map[string]uint64 `json:"events"`
	Note   string            `json:"-"` // what the row can't promise ("entry only: no return site")
}

// Over returns f as what has happened within so many seconds.
func (f Func) Over(seconds float64) Func {
	f.Seconds = seconds
	return f
}

// Rate is how many calls there are in a second, 0 if it is not known how long they were counted for. Calls that
// nobody saw are among them.
func (f *Func) Rate() float64 {
	if f.Seconds <= 0 {
		return 0
	}
	return f.Number() / f.Seconds
}

// Raw tells whether latencies are to be shown as they were seen, with what probes cost: all that was seen of a
// typical call may be that.
func (f *Func) Raw() bool {
	return f.Bounds != nil && f.Latency.Count() > 0 && f.Bounds.typicalShare() == 0
}

// Shown are the latencies to show, nil if none were measured.
func (f *Func) Shown() *Histogram {
	if f.Raw() {
		return &f.Bounds.Raw
	}
	return f.Latency
}

// Spent is what Shown is divided into.
func (f *Func) Spent() Split {
	if f.Split.Sum() > 0 && f.Raw() {
		return f.Split.Of(f.Bounds.Raw.Sum())
	}
	return f.Split
}

// Counts are what is counted once and for all.
func (f *Func) Counts() [8]*uint64 {
	return [...]*uint64{&f.Calls, &f.CutShort, &f.Completed, &f.Unwound, &f.Lost, &f.Unsure, &f.CountedOnly, &f.Errors}
}

// Since returns what happened to f after earlier, a copy of it, was made: all of it where that is the
// zero Func, which is how copies are made that no longer change with f.Latency. Open stays the
// number of calls open now, so that the parts add up to Calls only over a whole run: a call may begin
// in one interval and complete in the next.
func (f Func) Since(earlier Func) Func {
	f.Whole = f.Whole.since(f.Calls, earlier.Whole, earlier.Calls)
	before := earlier.Counts()
	for i, n := range f.Counts() {
		*n = grown(*n, *before[i])
	}
	f.Self -= earlier.Self
	f.Split, f.Waits = f.Split.since(earlier.Split), f.Waits.since(earlier.Waits)
	f.Events = maps.Clone(f.Events)
	for name, n := range f.Events {
		f.Events[name] = grown(n, earlier.Events[name])
	}
	f.Latency, f.Bounds = f.Latency.Since(earlier.Latency), f.Bounds.since(earlier.Bounds)
	f.Amounts = f.Amounts.since(earlier.Amounts)
	return f
}

// Add adds the calls of another row, whatever time these were counted for. Latencies stay net if those of both are,
// and else are as they were seen.
func (f *Func) Add(g *Func) {
	f.Whole = f.Whole.Plus(f.Calls, g.Whole, g.Calls)
	f.Open += g.Open
	more := g.Counts()
	for i, n := range f.Counts() {
		*n += *more[i]
	}
	f.ReturnsErrors = f.ReturnsErrors || g.ReturnsErrors
	f.Self = AddUp(f.Self, g.Self)
	f.Split.Add(g.Split)
	for reason, ns := range g.Waits {
		if f.Waits == nil {
			f.Waits = make(Waits)
		}
		f.Waits[reason] = AddUp(f.Waits[reason], ns)
	}
	for name, n := range g.Events {
		f.AddEvent(name, n)
	}
	if g.Latency != nil && g.Latency.Count() > 0 {
		f.addLatencies(g)
	}
	if g.Amounts != nil {
		f.Amounts = cmp.Or(f.Amounts, &Amounts{})
		f.Amounts.Add(&g.Amounts.Histogram)
		f.Amounts.Left += g.Amounts.Left
	}
}

func (f *Func) addLatencies(g *Func) {
	switch {
	case f.Latency == nil || f.Latency.Count() == 0:
		f.Latency, f.Bounds = g.Latency.Since(nil), g.Bounds.since(nil)
	case f.Bounds != nil && g.Bounds != nil:
		f.Latency.Add(g.Latency)
		f.Bounds.Raw.Add(&g.Bounds.Raw)
		f.Bounds.Low.Add(&g.Bounds.Low)
		f.Bounds.High.Add(&g.Bounds.High)
		f.Bounds.Waiting = max(f.Bounds.Waiting, g.Bounds.Waiting)
	default:
		f.Latency, f.Bounds = f.Seen(), nil
		f.Latency.Add(g.Seen())
	}
}

// Seen are latencies with what probes cost, nil if none were measured.
func (f *Func) Seen() *Histogram {
	if f.Bounds != nil {
		return &f.Bounds.Raw
	}
	return f.Latency
}

// AddEvent counts kernel events of a name.
func (f *Func) AddEvent(name string, n uint64) {
	if f.Events == nil {
		f.Events = make(map[string]uint64)
	}
	f.Events[name] += n
}

// RowKind tells whether a row is of a value.
type RowKind uint8

const (
	Valued  RowKind = iota
	NoValue         // of calls whose value is not known: Func.Value is why
	Others          // of the calls of all values that have no row
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
	for reason, ns := range w {
		w[reason] = ns - earlier[reason]
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
// of it; Net without that, from Low to High, if it is Known what they cost; Self is Net without timed calls nested in it.
type Timing struct {
	Raw, Net, Low, High, Self int64
	Known                     bool
}

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
func (f *Func) Time(t Timing) {
	f.Self = AddUp(f.Self, t.Self)
	if !t.Known {
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
