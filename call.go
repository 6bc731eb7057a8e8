package ftgo

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
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
		latency = units.Duration(c.Took.Nanoseconds())
	}
	b := fmt.Appendf(nil, "%8s  ", latency)
	if c.Goroutine == 0 {
		b = fmt.Appendf(b, "thread %d  ", c.TID)
	} else {
		b = fmt.Appendf(b, "goroutine %d  ", c.Goroutine)
	}
	b = append(b, printable.Text(c.Func.Name)...)
	b = valuetext.AppendArgs(b, captured(c.Args), c.Func.note)
	return string(valuetext.AppendResults(b, end, captured(c.Results)))
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
func (v Value) String() string { return valuetext.Text(&v.of) }

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
	switch of.Type.Kind {
	case reflect.Bool:
		return of.Num != 0
	case reflect.Int:
		return int64(of.Num)
	case reflect.Float64:
		return valuetext.Float(of.Num, of.Type.Size)
	case reflect.Complex128:
		half := of.Type.Size / 2
		return complex(valuetext.Float(of.Num, half), valuetext.Float(of.Imag, half))
	case reflect.String:
		return string(of.Bytes)
	case reflect.Slice:
		if of.Bytes != nil {
			return of.Bytes
		}
		return valuesOf(of.Items)
	case reflect.Array:
		return valuesOf(of.Items)
	case reflect.Struct:
		return valuesOf(of.Fields)
	case reflect.Map, reflect.Chan:
		return of.Len
	}
	if message, isError := valuetext.ErrorMessage(of); isError {
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
