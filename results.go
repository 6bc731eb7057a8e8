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
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// Func is a function of the program.
type Func struct {
	Name string
	Addr uint64 // as it was linked, 0 if it has no code of its own
	File string // where the source has it; "" if that is not known
	Line int    // 0 if that is not known
	// Signature is its name with parameters and results, "" if they are not known or were not
	// asked for.
	Signature string
	Unprobed  error // why it can't be probed, nil if it can

	note string // why values of it are not known
}

// Call is one call of a function.
type Call struct {
	Func *Func
	// PID is the process, 0 where the kernel did not tell; TID is the thread that it began on.
	PID, TID  int
	Goroutine uint64 // 0 on a thread's own stack, and outside of Go
	Depth     int    // the number of traced calls that it is nested in
	Began     time.Time
	// Took is how long it took, with what probes of traced calls within it took; 0 unless it
	// Returned.
	Took    time.Duration
	Outcome Outcome
	// Args are known when it began, Results if it Returned.
	Args, Results []Value

	stack []Frame
}

// Stack yields the callers, the innermost first; as many as [Tracer].Stack asks for.
func (c *Call) Stack() iter.Seq[Frame] { return slices.Values(c.stack) }

// Arg is the argument of that name, or the result. If there is none, its Any is an error.
func (c *Call) Arg(name string) Value {
	for _, values := range [][]Value{c.Args, c.Results} {
		for _, v := range values {
			if v.Name() == name {
				return v
			}
		}
	}
	return Value{capture.Value{Name: name, State: capture.Unfetched, Why: fmt.Sprintf("no value %q", name)}}
}

// String is the line that ftgo trace shows.
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

// Outcome is how a call ended.
type Outcome uint8

const (
	// Returned calls have ended as calls do.
	Returned = Outcome(pairing.Returned)
	// Unwound calls were left by a panic or by runtime.Goexit, or their goroutine is gone.
	Unwound = Outcome(pairing.Unwound)
	// Open calls had not ended when the trace did, or, with Entries, were just beginning.
	Open = Outcome(pairing.Open)
)

func (o Outcome) String() string { return pairing.Outcome(o).String() }

// Frame is a place in a stack. One without a Func stands for callers that are not known.
type Frame struct {
	Func, File string
	Line       int
}

// Value is what an argument or a result was, or a part of one.
type Value struct{ of capture.Value }

// Name is that of the variable or field, "" for elements.
func (v Value) Name() string { return v.of.Name }

// String is the value on one line, much as Go spells it. Nothing in it is not printable. What is
// missing at the end of a long text or slice is told: "abc"…+4093.
func (v Value) String() string { return v.of.Text() }

// Any is the value as a bool, int64, uint64, float64, complex128, string or []byte; of structs,
// arrays and slices a []Value; of what a pointer points to or an interface holds, if that was
// fetched, and else its address; of maps and channels their length; of functions their name. The
// interface of an error is its message. Of what is nil it is nil. If the value is not known, it is
// an error.
//
// Of strings the first 64 bytes are fetched, and of slices the first 8 elements.
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
	// Completed calls have returned. Unwound ones were left by a panic or by runtime.Goexit. Open ones
	// had not ended.
	Calls, Completed, Unwound, Open uint64
	Lost                            uint64        // calls that were not seen, or not to their end
	Sum                             time.Duration // what the Completed calls took together, with what probes took
	Latency                         *Histogram    // what each of them took
}

// Histogram is how long calls took. A nil one is empty.
type Histogram struct{ of *stats.Histogram }

// Quantile is what the fraction q of the calls did not exceed, within 1 %: 0.5 is the median, 0
// the least, 1 the most. It is 0 if there was no call.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.of.Quantile(q))
}

// AtMost is how many calls took no longer than d, within 1 % of d.
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
	text := fmt.Sprintf("%d of %s lost", e.Lost, printable.Plural(e.Hits, "hit"))
	if e.Unknown != nil {
		text += "; " + e.Unknown.Error()
	}
	return text
}

// report makes a Report of what the engine knows.
func (j *job) report(t *engine.Table) *Report {
	r := &Report{From: t.From, Until: t.At, Width: t.Pass, Hits: t.Hits, Lost: t.Lost, Unknown: j.doubt(t)}
	for _, f := range t.Whole {
		if planned := &j.request.Plan.Funcs[f.Func]; f.Calls == 0 && f.Completed == 0 && !planned.Point && !j.request.Target.Roles[planned.Func].Named {
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

// doubt is Report.Unknown.
func (j *job) doubt(t *engine.Table) error {
	switch {
	case j.cutOff != nil:
		return j.cutOff
	case len(t.Vanished) > 0:
		return fmt.Errorf("probes have vanished from process %d, which has changed its code or dropped it", t.Vanished[0])
	case t.Unparsed > 0:
		return fmt.Errorf("%s of the kernel's not understood", printable.Plural(t.Unparsed, "line"))
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
