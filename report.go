package ftgo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/units"
)

// Report is what was done from the beginning of a trace to a moment.
type Report struct {
	// From and Until are the ends of the window that all numbers are of.
	From, Until time.Time
	// Width is how long reading the kernel's counters took: the counts of two functions may be
	// of moments so far apart.
	Width time.Duration
	// Funcs are those with most calls first. Of functions that a glob selects, only those that
	// were called are there.
	Funcs []Row
	// Hits is how often probes were hit, by the kernel's own count; of these Lost were not told,
	// since its buffer was full.
	Hits, Lost uint64
	// Unknown is why there may be more that was lost, nil if there is no more.
	Unknown error
}

// Row is about one function. Its Calls are Completed, Unwound, Open or Lost; where they are only
// counted, it is not known which.
type Row struct {
	Func *Func
	// Completed calls have returned. Unwound ones were left by a panic or by runtime.Goexit. With
	// InKernel these are among the Open ones, which had not ended.
	Calls, Completed, Unwound, Open uint64
	Lost                            uint64        // calls that were not seen, or not to their end
	Sum                             time.Duration // what the Completed calls took together, with what probes took
	Latency                         *Histogram    // what each of them took
}

// Histogram is how long calls took. A nil one is empty.
type Histogram struct{ of *stats.Histogram }

// Quantile is what the fraction q of the calls did not exceed, within 1 %: 0.5 is the median, 0
// the least, 1 the most. With InKernel it is the next power of two nanoseconds. It is 0 if there
// was no call.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.of.Quantile(q))
}

// AtMost is how many calls took no longer than d, within 1 % of d; with InKernel, how many are
// known to.
func (h *Histogram) AtMost(d time.Duration) uint64 {
	if h == nil {
		return 0
	}
	return h.of.AtMost(d.Nanoseconds())
}

// LossError says that calls are missing from a trace.
type LossError struct {
	// Hits, Lost and Unknown are those of [Report].
	Hits, Lost uint64
	Unknown    error
	// Funcs are the functions that calls are missing of, and how many.
	Funcs map[string]uint64
}

func (e *LossError) Error() string {
	text := fmt.Sprintf("%d of %s lost", e.Lost, units.Plural(e.Hits, "hit"))
	if e.Unknown != nil {
		text += "; " + e.Unknown.Error()
	}
	return text
}

// report makes a Report of what the engine knows.
func (j *job) report(t *trace.Table) *Report {
	r := &Report{From: t.From, Until: t.At, Width: t.Pass, Hits: t.Hits, Lost: t.Lost, Unknown: j.doubt(t)}
	for _, f := range t.Whole {
		if planned := &j.plan.Funcs[f.Func]; f.Calls == 0 && f.Completed == 0 && !planned.Point && !j.target.Roles[planned.Func].Named {
			continue
		}
		row := Row{Func: j.funcs[f.Func], Calls: f.Calls, Completed: f.Completed, Unwound: f.Unwound, Open: f.Open + f.Unfinished, Lost: f.Lost}
		if f.Latency != nil {
			row.Sum, row.Latency = time.Duration(f.Latency.Sum()), &Histogram{f.Latency.Since(nil)}
		}
		r.Funcs = append(r.Funcs, row)
	}
	slices.SortStableFunc(r.Funcs, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return r
}

// doubt is Report.Unknown.
func (j *job) doubt(t *trace.Table) error {
	switch {
	case j.cutOff != nil:
		return j.cutOff
	case len(t.Vanished) > 0:
		return fmt.Errorf("probes have vanished from process %d, which has changed its code or dropped it", t.Vanished[0])
	case t.Unparsed > 0:
		return fmt.Errorf("%s of the kernel's not understood", units.Plural(t.Unparsed, "line"))
	}
	return nil
}

// loss is the last item of a trace of calls, nil if nothing was lost.
func (j *job) loss() error {
	if j.last == nil {
		return nil // it was told to end before it had begun
	}
	e := &LossError{Hits: j.last.Hits, Lost: j.last.Lost, Unknown: j.doubt(j.last), Funcs: make(map[string]uint64)}
	for _, f := range j.last.Whole {
		if f.Lost > 0 {
			e.Funcs[f.Name] += f.Lost
		}
	}
	if e.Lost == 0 && e.Unknown == nil && len(e.Funcs) == 0 {
		return nil
	}
	return e
}
