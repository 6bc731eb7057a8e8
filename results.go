package ftgo

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
)

// Func is a function of the program.
type Func struct {
	Name string
	Addr uint64 // link-time address; 0 if it has no code of its own
	File string // source file; "" if not known
	Line int    // 0 if not known
	// Signature is the name with parameters and results; "" if not known or not requested.
	Signature string
	Unprobed  error // why it can't be probed, nil if it can

	note string // why its values are not known
}

// Call is one call of a function.
type Call struct {
	Func *Func
	// PID is the process; 0 if the kernel did not record it. TID is the thread on which the call began.
	PID, TID  int
	Goroutine uint64 // 0 on a thread's own stack, and outside of Go
	Depth     int    // the number of traced calls around this one
	Began     time.Time
	// Took is the duration, including the cost of the probes of nested calls; 0 unless Outcome is Returned.
	Took    time.Duration
	Outcome Outcome
	// Args are the arguments when the call began. Results are set if Outcome is Returned.
	Args, Results []Value

	stack []Frame
}

// Stack yields the callers, the innermost first. [Tracer].Stack limits their number.
func (c *Call) Stack() iter.Seq[Frame] { return slices.Values(c.stack) }

// Arg returns the argument or result with a name. If the name is unknown, Any of the Value returns an error.
func (c *Call) Arg(name string) Value {
	for _, v := range slices.Concat(c.Args, c.Results) {
		if v.Name() == name {
			return v
		}
	}
	return Value{capture.Value{Name: name, State: capture.Unfetched, Reason: fmt.Sprintf("no value %q", name)}}
}

// String returns the line that ftgo trace prints.
func (c *Call) String() string {
	latency, end := "-", c.Outcome.String()
	if c.Outcome == Returned {
		latency = printable.Duration(c.Took.Nanoseconds())
	}
	b := fmt.Appendf(nil, "%8s  ", latency)
	if c.Goroutine == 0 {
		b = fmt.Appendf(b, "thread %d  ", c.TID)
	} else {
		b = fmt.Appendf(b, "goroutine %d  ", c.Goroutine)
	}
	b = append(b, printable.Text(c.Func.Name)...)
	b = capture.AppendArgs(b, captured(c.Args), c.Func.note, 0)
	return string(capture.AppendResults(b, end, captured(c.Results), 0))
}

// Outcome says how a call ended.
type Outcome uint8

const (
	// Returned calls have returned.
	Returned = Outcome(pairing.Returned)
	// Unwound calls were ended by a panic, by runtime.Goexit, or with their goroutine.
	Unwound = Outcome(pairing.Unwound)
	// Open calls had not ended when the trace ended or, with Entries, have just begun.
	Open = Outcome(pairing.Open)
)

func (o Outcome) String() string { return pairing.Outcome(o).String() }

// Frame is a place in a stack. A Frame without Func stands for unknown callers.
type Frame struct {
	Func, File string
	Line       int
}

// Value is the value of an argument or result, or a part of such a value.
type Value struct{ of capture.Value }

// Name returns the name of the variable or field, "" for elements.
func (v Value) Name() string { return v.of.Name }

// String returns the value on one line, much like Go source. All characters are printable. The length of the missing end
// of a long text or slice follows it: "abc"…+4093.
func (v Value) String() string { return v.of.Text() }

// Any returns a bool, int64, uint64, float64, complex128, string or []byte for a value of such a kind. It returns a
// []Value for structs, arrays and other slices; the length of maps and channels; the name of functions; the message of
// errors. For pointers and interfaces it returns the value behind them if that was fetched, else the address. It
// returns nil for a nil value, and an error if the value is not known.
//
// The first 64 bytes of strings and the first 8 elements of slices are fetched.
func (v Value) Any() any {
	of := &v.of
	switch {
	case of.State != capture.Known || of.Type == nil:
		return errors.New(v.String())
	case of.Nil():
		return nil
	}
	if n := of.Number(); n != nil {
		return n
	}
	switch of.Type.Kind {
	case reflect.String:
		return string(of.Bytes)
	case reflect.Slice:
		if of.Bytes != nil {
			return of.Bytes
		}
		return valuesOf(of.Items)
	case reflect.Array, reflect.Struct:
		return valuesOf(of.Items)
	case reflect.Map, reflect.Chan:
		return of.Len
	}
	if message, isError := of.ErrorMessage(); isError {
		return string(message.Bytes)
	}
	switch {
	case of.Elem != nil:
		return Value{*of.Elem}.Any()
	case of.Type.Kind == reflect.Func && of.Dynamic != "":
		return of.Dynamic
	}
	return of.Num
}

func valuesOf(all []capture.Value) []Value {
	out := make([]Value, len(all))
	for i := range all {
		out[i].of = all[i]
	}
	return out
}

func captured(values []Value) []capture.Value {
	out := make([]capture.Value, len(values))
	for i := range values {
		out[i] = values[i].of
	}
	return out
}

// Report holds the totals from the beginning of a trace to a moment.
type Report struct {
	// From and Until are the ends of the window that all numbers apply to.
	From, Until time.Time
	// Width is the time that reading the kernel's counters took: the counts of two functions may be this far apart.
	Width time.Duration
	// Funcs is sorted by the number of calls, the highest first. Functions that a glob selects are included only if they
	// were called.
	Funcs []Row
	// Hits is the number of probe hits, by the kernel's counters. Lost is the number of hits that were not delivered,
	// because the buffer was full.
	Hits, Lost uint64
	// Unknown is the reason why more hits may be missing, nil if none are.
	Unknown error
}

// Row has the numbers of one function. Its Calls are Completed, Unwound, Open or Lost, unless calls are only counted.
type Row struct {
	Func *Func
	// Completed calls have returned. Unwound calls were ended by a panic or by runtime.Goexit. Open calls had not ended.
	Calls, Completed, Unwound, Open uint64
	Lost                            uint64        // calls that were not seen, or not to their end
	Sum                             time.Duration // total duration of the Completed calls, including the cost of probes
	Latency                         *Histogram    // durations of the Completed calls
}

// Histogram is a histogram of durations. A nil Histogram is empty.
type Histogram struct{ of *stats.Histogram }

// Quantile returns the duration that the fraction q of the calls did not exceed, within 1 %: 0.5 is the median, 0 the
// minimum, 1 the maximum. It returns 0 if the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.of.Quantile(q))
}

// AtMost returns the number of calls that took at most d, within 1 % of d.
func (h *Histogram) AtMost(d time.Duration) uint64 {
	if h == nil {
		return 0
	}
	return h.of.AtMost(d.Nanoseconds())
}

// LossError reports that calls are missing from a trace, or may be missing.
type LossError struct {
	// Hits, Lost and Unknown are as in [Report].
	Hits, Lost uint64
	Unknown    error
	// Funcs is the number of missing calls of each function.
	Funcs map[string]uint64
}

func (e *LossError) Error() string {
	text := fmt.Sprintf("%d of %s lost", e.Lost, printable.Plural(e.Hits, "hit"))
	if e.Unknown != nil {
		text += "; " + e.Unknown.Error()
	}
	return text
}

// report returns the Report of a table.
func (j *job) report(t *trace.Reading) *Report {
	r := &Report{From: t.Began, Until: t.At, Width: t.Pass, Hits: t.Hits, Lost: t.Lost, Unknown: j.doubt(t)}
	for _, f := range t.Whole {
		if planned := &j.request.Plan.Funcs[f.Func]; f.Calls == 0 && f.Completed == 0 && !planned.Role.Named {
			continue
		}
		row := Row{Func: j.funcs[f.Func], Calls: f.Calls, Completed: f.Completed, Unwound: f.Unwound, Open: f.Open, Lost: f.Lost}
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

// doubt returns Report.Unknown.
func (j *job) doubt(t *trace.Reading) error {
	switch {
	case j.cutOff != nil:
		return j.cutOff
	case len(t.Vanished) > 0:
		return fmt.Errorf("probes have vanished from process %d, which has changed its code or dropped it", t.Vanished[0])
	case t.Unparsed > 0:
		return fmt.Errorf("%s not understood", printable.Plural(t.Unparsed, "trace line"))
	}
	return nil
}

// loss returns a [LossError], or nil if nothing was lost.
func (j *job) loss(last *trace.Reading) error {
	e := &LossError{Hits: last.Hits, Lost: last.Lost, Unknown: j.doubt(last), Funcs: make(map[string]uint64)}
	for _, f := range last.Whole {
		if f.Lost > 0 {
			e.Funcs[f.Name] += f.Lost
		}
	}
	if e.Lost == 0 && e.Unknown == nil && len(e.Funcs) == 0 {
		return nil
	}
	return e
}
