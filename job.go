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
	"github.com/ftgo/ftgo/internal/uprobe"
)

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

// run runs a trace in a mode, and always removes the probes. If each is true, it passes each call to give, else each report.
// It ends without an error when give returns false.
func (t *Tracer) run(ctx context.Context, mode uprobe.Mode, each bool, every time.Duration, give func(*Call, *Report) bool) (err error) {
	j, err := t.job(mode, each)
	if err != nil {
		return err
	}
	broken := false
	defer func() {
		if err = errors.Join(err, j.close()); broken {
			err = nil // the caller's loop can't take an error any more
		}
	}()
	totals := engine.Totals{Clock: j.source.Clock(), Costs: trace.NoCosts{}}
	totals.Begin(j.request.Plan)
	if err := j.source.Arm(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return unsupported(err)
	}
	// reading adds the totals to a reading, and passes them to give if each is false.
	reading := func() (*trace.Reading, error) {
		r, err := j.source.Reading()
		if r != nil {
			totals.At(r)
			broken = !each && !give(nil, j.report(r))
		}
		return r, err
	}
	var failed error
	for it, err := range trace.Run(ctx, j.source, j.program, trace.Limits{Interval: every}) {
		if err != nil {
			failed = err
			break
		}
		totals.Take(it)
		switch {
		case it.Kind == pairing.Began && each:
			broken = !give(j.call(it.Call, Open), nil)
		case it.Kind == pairing.Ended && each:
			broken = !give(j.call(it.Call, Outcome(it.Call.Outcome)), nil)
		case it.Kind == pairing.Marked:
			_, failed = reading()
		case it.Kind == pairing.Forgotten && j.memories != nil:
			j.memories.Forget(it.PID)
		}
		if broken || failed != nil {
			return failed
		}
	}
	last, err := reading()
	switch err = errors.Join(failed, err); {
	case err != nil || last == nil: // last is nil if ctx was done before the trace began
		return err
	case last.Written:
		return j.request.Target.WrittenTo()
	case each:
		return j.loss(last)
	}
	return nil
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
