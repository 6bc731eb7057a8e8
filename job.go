package ftgo

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// errBroken is returned when the caller's loop ends before the trace.
var errBroken = errors.New("the loop has ended")

// job is one trace.
type job struct {
	tracer   *Tracer
	each     bool // yield calls instead of totals
	request  engine.Request
	funcs    []*Func        // indexed as request.Plan.Funcs
	program  *trace.Command // nil without Tracer.Command
	source   trace.Source
	fs       *tracefs.FS      // nil for a recording
	file     io.Closer        // the recording, or nil
	cutOff   error            // set if the end of the recording is missing
	stacks   *engine.Stacks   // nil without Tracer.Stack
	memories *engine.Memories // nil if no values are fetched
	fetch    capture.Limits   // limits of the data behind pointers
}

// run runs the trace, and always removes the probes. It passes each call or report to give, and ends when give returns
// false. It returns the last reading.
func (j *job) run(ctx context.Context, every time.Duration, give func(*Call, *Report) bool) (last *trace.Reading, err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	totals := engine.NewTotals(j.request.Plan, engine.TotalsOptions{Clock: j.source.Clock(), Costs: trace.NoCosts{}})
	if err := j.source.Arm(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil, nil
		}
		return nil, unsupported(err)
	}
	// reading adds the totals to a reading. If totals are yielded, it passes them to give.
	reading := func() (*trace.Reading, error) {
		r, err := j.source.Reading()
		if r == nil {
			return nil, err
		}
		if totals.At(r); !j.each && !give(nil, j.report(r)) {
			return r, errBroken
		}
		return r, err
	}
	for it, err := range trace.Run(ctx, j.source, j.program, trace.Limits{Interval: every}) {
		if err != nil {
			return nil, err
		}
		totals.Take(it)
		goOn := true
		switch {
		case it.Kind == pairing.Began && j.each:
			goOn = give(j.call(it.Call, Open), nil)
		case it.Kind == pairing.Ended && j.each:
			goOn = give(j.call(it.Call, Outcome(it.Call.Outcome)), nil)
		case it.Kind == pairing.Marked:
			if _, err := reading(); err != nil {
				return nil, err
			}
		case it.Kind == pairing.Forgotten && j.memories != nil:
			j.memories.Forget(it.PID)
		}
		if !goOn {
			return nil, errBroken
		}
	}
	last, err = reading()
	if last != nil && last.Written && err == nil {
		err = j.request.Target.WrittenTo()
	}
	return last, err
}

// close removes the probes, ends the program and closes all files.
func (j *job) close() error {
	var err error
	if j.source != nil {
		err = j.source.Close()
	}
	j.program.End()
	if j.request.Target != nil && j.request.Target.Binary != nil {
		j.request.Target.Binary.Close()
	}
	if j.file != nil {
		j.file.Close()
	}
	if j.fs != nil {
		_ = j.fs.RemoveHeld() // instances without probes that other processes hold open
	}
	return err
}

// call copies a call of the source for the caller.
func (j *job) call(c *pairing.Call, outcome Outcome) *Call {
	clock, f := j.source.Clock(), &j.request.Plan.Funcs[c.Func]
	call := &Call{
		Func: j.funcs[c.Func], PID: c.PID, TID: c.TID, Goroutine: c.Goid, Depth: c.Depth, Began: clock.Wall(c.Start), Outcome: outcome,
	}
	if outcome == Returned {
		call.Took = clock.Took(c)
	}
	if j.memories != nil {
		p := j.memories.Process(c)
		if f.Values.Entry != nil && c.Args != nil {
			call.Args = valuesOf(f.Values.Entry.AppendValues(nil, c.Args, p))
		}
		if f.Values.Return != nil && c.Results != nil {
			call.Results = valuesOf(f.Values.Return.AppendValues(nil, c.Results, p))
		}
	}
	if j.stacks != nil {
		for _, at := range j.stacks.Callers(c, f.Name) {
			if len(at.Frames) == 0 { // unknown callers
				call.stack = append(call.stack, Frame{})
			}
			for _, frame := range at.Frames {
				call.stack = append(call.stack, Frame{Func: frame.Function, File: frame.File, Line: frame.Line})
			}
		}
	}
	return call
}

// quiet drops the messages of a source. The errors and reports of a trace say the same.
type quiet struct{}

func (quiet) Say(string, ...any)     {}
func (quiet) Warn(string)            {}
func (quiet) Progress(string) func() { return func() {} }
