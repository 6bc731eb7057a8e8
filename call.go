package ftgo

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
)

// Func is a function of the program.
type Func struct {
	Name string
	// Addr is its address as it was linked, 0 if it has no code of its own.
	Addr uint64
	// File and Line are where the source has it; "" and 0 if that is not known.
	File string
	Line int
	// Signature is its name with parameters and results, "" if they are not known or were not
	// asked for.
	Signature string
	// Unprobed is why it can't be probed, nil if it can.
	Unprobed error

	note string // why values of it are not known
}

// Call is one call of a function.
type Call struct {
	Func *Func
	// PID is the process, 0 where the kernel did not tell; TID is the thread that it began on.
	PID, TID int
	// Goroutine is 0 on a thread's own stack, and outside of Go.
	Goroutine uint64
	// Depth is the number of traced calls that it is nested in.
	Depth int
	Began time.Time
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
	return missing(name)
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
	Returned = Outcome(parse.Returned)
	// Unwound calls were left by a panic or by runtime.Goexit, or their goroutine is gone.
	Unwound = Outcome(parse.Unwound)
	// Open calls had not ended when the trace did, or, with Entries, were just beginning.
	Open = Outcome(parse.Open)
)

func (o Outcome) String() string { return parse.Outcome(o).String() }

// Frame is a place in a stack. One without a Func stands for callers that are not known.
type Frame struct {
	Func, File string
	Line       int
}
