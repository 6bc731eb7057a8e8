// Package stats adds up calls: counts and latency histograms per function, per value of an argument or result, and per
// call stack. Rows can be added, and subtracted to get the calls of an interval. Package pairing supplies the calls.
package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Func is a row: counts and latencies of the calls of one function, or of those of one process, host or value, in a run,
// an interval or several runs. Over a complete run, Calls = Completed + Unwound + Open + Lost + CountedOnly. The tags are
// the keys of -o json, from which package compare decodes it.
type Func struct {
	Name   string `json:"function"`
	Func   int    `json:"-"` // the function's index in Plan.Funcs
	Serial uint64 `json:"-"` // identifies the row, also in later tables
	Host   string `json:"host"`
	// Value is the value that all calls of the row have, or an explanation; see Kind. Missed is the largest weight (see
	// [ValueRows]) that calls with this value may have among the calls of the row with Kind Others.
	Value  string  `json:"-"`
	Kind   RowKind `json:"-"`
	Missed uint64  `json:"-"`

	Seconds     float64 `json:"-"`            // how long calls were counted, 0 if unknown
	Calls       uint64  `json:"calls"`        // calls that began while traced, by the kernel's count
	Completed   uint64  `json:"completed"`    // calls that returned; their latencies are in Latency
	Unwound     uint64  `json:"unwound"`      // calls that ended by a panic, by Goexit or with their goroutine
	Open        uint64  `json:"open"`         // calls that had not ended when tracing ended
	Lost        uint64  `json:"lost"`         // calls of which the ring buffer lost the end, or all hits
	CountedOnly uint64  `json:"counted_only"` // calls that were counted but not timed
	// Unsure is the number of Calls that may not be calls: their hits at a stack check were lost, and if the check
	// failed, the function began again after its stack had grown. It is 0 unless entry probes are at stack checks.
	Unsure uint64 `json:"unsure"`
	// Estimate is the estimated number of all calls if a budget removed the probes for some of the time; if nil, Calls
	// is exact.
	Estimate *Estimate `json:"-"`
	CutShort uint64    `json:"cut_short"` // calls whose begin was timed, but whose probes were removed before their end
	// Errors is the number of completed calls that returned an error. It is valid if ReturnsErrors is true: the last
	// result is an error, and was fetched.
	Errors        uint64 `json:"-"`
	ReturnsErrors bool   `json:"-"`
	// Latency holds the durations of completed calls in nanoseconds, nil in count mode. If the cost of probes is known,
	// it is subtracted, and Bounds holds how far the latencies may be off; else Bounds is nil. [Func.ShownLatency]
	// returns the latencies to show.
	Latency *Histogram `json:"-"`
	Bounds  *Bounds    `json:"-"`
	Self    int64      `json:"-"` // sum of Latency without the time in nested timed calls; valid if the cost of probes is known
	Split   Split      `json:"-"` // Latency by state of the goroutine, zero unless requested; see [Func.ShownSplit]
	Waits   Waits      `json:"-"` // Split.Waiting by reason, where known
	Amounts *Amounts   `json:"-"` // nil unless requested
	// Events counts, by name, the kernel events of --with that happened during a call but not during a traced call
	// nested in it.
	Events map[string]uint64 `json:"events"`
	Note   string            `json:"-"` // limits of the row ("has no return: only its calls are counted")
}

// Over returns a copy of f with Seconds set to seconds.
func (f Func) Over(seconds float64) Func {
	f.Seconds = seconds
	return f
}

// Rate returns the calls per second, including the estimated ones, or 0 if Seconds is unknown.
func (f *Func) Rate() float64 {
	if f.Seconds <= 0 {
		return 0
	}
	return f.Number() / f.Seconds
}

// Raw reports whether ftgo shows latencies including the cost of probes, because this cost may be all of the measured
// latency of a typical call.
func (f *Func) Raw() bool {
	return f.Bounds != nil && f.Latency.Count() > 0 && f.Bounds.typicalShare() == 0
}

// ShownLatency returns the latencies to show, nil in count mode.
func (f *Func) ShownLatency() *Histogram {
	if f.Raw() {
		return &f.Bounds.Raw
	}
	return f.Latency
}

// ShownSplit returns the split of the latencies that ShownLatency returns.
func (f *Func) ShownSplit() Split {
	if f.Split.Sum() > 0 && f.Raw() {
		return f.Split.WithSum(f.Bounds.Raw.Sum())
	}
	return f.Split
}

// Counts returns the counters, which only grow during a run, except that Lost may shrink.
func (f *Func) Counts() [8]*uint64 {
	return [...]*uint64{&f.Calls, &f.CutShort, &f.Completed, &f.Unwound, &f.Lost, &f.Unsure, &f.CountedOnly, &f.Errors}
}

// Since returns f without the calls of earlier, an older copy of the same row. It shares no histogram with f. Open stays
// the number of calls that are open now. A call may begin in one interval and complete in the next, so the sum in the
// comment of [Func] holds only for the whole run.
func (f Func) Since(earlier Func) Func {
	f.Estimate = f.Estimate.since(f.Calls, earlier.Estimate, earlier.Calls)
	before := earlier.Counts()
	for i, n := range f.Counts() {
		*n = grown(*n, *before[i])
	}
	f.Self -= earlier.Self
	for i, ns := range f.Split.Parts() {
		*ns -= *earlier.Split.Parts()[i]
	}
	f.Waits, f.Events = since(f.Waits, earlier.Waits), since(f.Events, earlier.Events)
	f.Latency, f.Bounds = f.Latency.Since(earlier.Latency), f.Bounds.since(earlier.Bounds)
	f.Amounts = f.Amounts.since(earlier.Amounts)
	return f
}

// Add adds the calls of another row; Seconds stays. Unless the latencies of both rows are net of the cost of probes,
// the sum includes this cost.
func (f *Func) Add(g *Func) {
	f.Estimate = f.Estimate.Plus(f.Calls, g.Estimate, g.Calls)
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
		f.Amounts.Missing += g.Amounts.Missing
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
		f.Latency, f.Bounds = f.RawLatency(), nil
		f.Latency.Add(g.RawLatency())
	}
}

// RawLatency returns the latencies with the cost of probes, nil in count mode.
func (f *Func) RawLatency() *Histogram {
	if f.Bounds != nil {
		return &f.Bounds.Raw
	}
	return f.Latency
}

// AddEvent adds n kernel events with a name.
func (f *Func) AddEvent(name string, n uint64) {
	if f.Events == nil {
		f.Events = make(map[string]uint64)
	}
	f.Events[name] += n
}

// RowKind says which calls a row of [ValueRows] contains.
type RowKind uint8

const (
	Valued  RowKind = iota // calls with the value Func.Value
	NoValue                // calls with an unknown value: Func.Value is the reason
	Others                 // calls with any of the values that have no row
)

// Amounts is a histogram of a number that each call has, like a size.
type Amounts struct {
	Histogram
	Missing uint64 // calls without the number: it could not be read, or is negative
}

func (a *Amounts) since(earlier *Amounts) *Amounts {
	if a == nil {
		return nil
	}
	earlier = cmp.Or(earlier, &Amounts{})
	return &Amounts{*a.Histogram.Since(&earlier.Histogram), grown(a.Missing, earlier.Missing)}
}

// grown returns now-before, or 0 if now is less than before: Lost shrinks when the return of a call arrives late.
func grown[N int64 | uint64](now, before N) N { return now - min(before, now) }

// since returns a copy of the numbers in now without those in earlier.
func since[N int64 | uint64](now, earlier map[string]N) map[string]N {
	now = maps.Clone(now)
	for name, n := range now {
		now[name] = grown(n, earlier[name])
	}
	return now
}

// Split is a duration by the state of the goroutine, in nanoseconds.
type Split struct {
	Running  int64 // on a CPU
	Runnable int64 // waiting only for a CPU or a thread
	Waiting  int64 // waiting for something else
}

// Sum returns the whole duration, at most math.MaxInt64.
func (s Split) Sum() int64 { return AddUp(AddUp(s.Running, s.Runnable), s.Waiting) }

// Parts returns the parts of the duration.
func (s *Split) Parts() [3]*int64 { return [...]*int64{&s.Running, &s.Runnable, &s.Waiting} }

// Add adds the parts of t, each up to math.MaxInt64, which the waits of many goroutines reach within days.
func (s *Split) Add(t Split) {
	for i, ns := range s.Parts() {
		*ns = AddUp(*ns, *t.Parts()[i])
	}
}

// Waits is the time waited in nanoseconds, by reason.
type Waits map[string]int64

// Reasons returns the reasons with a positive time, the longest first.
func (w Waits) Reasons() []string {
	reasons := slices.SortedFunc(maps.Keys(w), func(a, b string) int {
		return cmp.Or(cmp.Compare(w[b], w[a]), strings.Compare(a, b))
	})
	return slices.DeleteFunc(reasons, func(reason string) bool { return w[reason] <= 0 })
}

// WithSum returns s with the sum ns, a duration after the cost of probes was subtracted. It subtracts the difference
// from Running, because goroutines run while they execute probes, and only the rest from Runnable and then from
// Waiting.
func (s Split) WithSum(ns int64) Split {
	s.Running += ns - s.Sum()
	s.Runnable += min(s.Running, 0)
	s.Running = max(s.Running, 0)
	s.Waiting += min(s.Runnable, 0)
	s.Runnable = max(s.Runnable, 0)
	return s
}

// Timing is the duration of a call, in nanoseconds.
type Timing struct {
	Raw       int64 // measured, including the cost of probes
	Net       int64 // Raw without the estimated cost of probes; Raw if the cost is unknown
	Low, High int64 // bounds of the true duration
	Self      int64 // Net without the time in nested timed calls
	Known     bool  // the cost of probes is known
}

// Bounds holds the bounds of net latencies. For each call, Low contains a lower bound and High an upper bound of the
// true latency. So each quantile of the true latencies is between the same quantiles of Low and High.
type Bounds struct {
	Raw, Low, High Histogram
	// Waiting is the share of time that the program waited for a CPU, possibly because the tracer used it. It lowers
	// the lower bound of each statistic.
	Waiting float64
}

// Time records the latency of a call that returned: net if the cost of probes is known, else raw.
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

// since is like [Histogram.Since].
func (b *Bounds) since(earlier *Bounds) *Bounds {
	if b == nil {
		return nil
	}
	earlier = cmp.Or(earlier, &Bounds{})
	return &Bounds{*b.Raw.Since(&earlier.Raw), *b.Low.Since(&earlier.Low), *b.High.Since(&earlier.High), b.Waiting}
}

// typicalShare returns the least share of the measured latency that is not the cost of probes: either in the median
// call or in the call at the 10th percentile, which probably did not wait.
func (b *Bounds) typicalShare() float64 {
	share := 1.0
	for _, q := range [...]float64{0.1, 0.5} {
		if raw := b.Raw.Quantile(q); raw > 0 {
			share = min(share, float64(b.Low.Quantile(q))/float64(raw))
		}
	}
	return share
}

// Of returns the bounds of a statistic. Probes may delay a call by more than their own cost, if it waits for a CPU or
// for goroutines that execute probes. So the lower bound assumes that the cost of probes is the same share of the
// statistic as of a typical call's latency.
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
