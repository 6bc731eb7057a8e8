package ftgo

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// errBroken: the loop over a trace has ended before the trace.
var errBroken = errors.New("the loop has ended")

// job is one trace, from its first probe to its last. It is the sink of its source.
type job struct {
	*trace.Totals
	tracer   *Tracer
	target   *target.Target
	plan     *uprobe.Plan
	funcs    []*Func // as plan.Funcs
	source   trace.Source
	program  *trace.Command  // nil if none is started
	fs       *tracefs.FS     // nil for a recording
	file     io.Closer       // the recording, nil if there is none
	cutOff   error           // the recording's end is missing
	stacks   *trace.Stacks   // nil if they are not wanted
	memories *trace.Memories // nil if no values are wanted
	each     bool            // single calls are wanted, and not their totals
	calls    []*Call         // that the loop has not got yet
	reports  []*Report       // nor these
	last     *trace.Table
}

// run arms the source, and removes the probes whatever happens. give hands out what has come; its
// error ends the trace at once.
func (j *job) run(ctx context.Context, every time.Duration, give func() error) (err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	j.Totals = trace.NewTotals(j.plan, trace.TotalsOptions{Clock: j.source.Clock(), Costs: trace.NoCosts{}})
	if err := j.source.Arm(ctx, j); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return unsupported(err)
	}
	if j.program != nil {
		if err := j.source.Spawn(j.program); err != nil {
			return err
		}
	}
	err = trace.Watch(ctx, j.source, j.program, every, give)
	switch {
	case errors.Is(err, errBroken):
		return err
	case errors.Is(err, trace.ErrWritten):
		err = j.target.WrittenTo()
	}
	return errors.Join(err, trace.Drain(j.source, give))
}

// close removes what is left of the trace.
func (j *job) close() error {
	var err error
	if j.source != nil {
		err = j.source.Close()
	}
	j.program.End()
	if j.target != nil && j.target.Binary != nil {
		j.target.Binary.Close()
	}
	if j.file != nil {
		j.file.Close()
	}
	if j.fs != nil {
		_ = j.fs.RemoveHeld() // instances without probes, which others hold
	}
	return err
}

// Entry and those that follow, with Counted and Kernel of its Totals, make it a [trace.Sink].
func (j *job) Entry(c *pairing.Call) {
	if j.each {
		j.calls = append(j.calls, j.call(c, Open))
	}
}

func (j *job) Return(c *pairing.Call) {
	j.Totals.Return(c)
	if j.each {
		j.calls = append(j.calls, j.call(c, Outcome(c.Outcome)))
	}
}

func (j *job) Goroutine(*pairing.Goroutine) {}

func (j *job) ProcessEnded(pid int) {
	j.Totals.ProcessEnded(pid)
	if j.memories != nil {
		j.memories.Forget(pid)
	}
}

func (j *job) Reading(r *trace.Reading) {
	if r.First {
		return
	}
	if j.last = j.At(r); !j.each {
		j.reports = append(j.reports, j.report(j.last))
	}
}

// call is one that is the caller's to keep.
func (j *job) call(c *pairing.Call, outcome Outcome) *Call {
	clock, f := j.source.Clock(), &j.plan.Funcs[c.Func]
	call := &Call{
		Func: j.funcs[c.Func], PID: c.PID, TID: c.TID, Goroutine: c.Goid, Depth: c.Depth, Began: clock.Wall(c.Start), Outcome: outcome,
	}
	if outcome == Returned {
		call.Took = clock.Took(c)
	}
	if j.memories != nil {
		p := j.memories.Process(c)
		if f.Values.Entry != nil && c.Args != nil {
			call.Args = valuesOf(f.Values.Entry.Append(nil, c.Args, p))
		}
		if f.Values.Return != nil && c.Results != nil {
			call.Results = valuesOf(f.Values.Return.Append(nil, c.Results, p))
		}
	}
	if j.stacks != nil {
		for _, at := range j.stacks.Callers(c, f.Name) {
			if len(at.Frames) == 0 {
				call.stack = append(call.stack, Frame{})
			}
			for _, frame := range at.Frames {
				call.stack = append(call.stack, Frame{Func: frame.Function, File: frame.File, Line: frame.Line})
			}
		}
	}
	return call
}

// quiet is where a source says what the errors and reports tell, or nobody needs.
type quiet struct{}

func (quiet) Say(string, ...any) {}
func (quiet) Warn(string)        {}
