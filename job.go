package ftgo

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// errBroken: the loop over a trace has ended before the trace.
var errBroken = errors.New("the loop has ended")

// job is one trace, from its first probe to its last.
type job struct {
	totals   *engine.Totals
	tracer   *Tracer
	request  engine.Request
	funcs    []*Func // as request.Plan.Funcs
	source   trace.Source
	program  *trace.Command     // nil if none is started
	fs       *tracefs.FS        // nil for a recording
	file     io.Closer          // the recording, nil if there is none
	cutOff   error              // the recording's end is missing
	stacks   *engine.Stacks     // nil if they are not wanted
	memories *engine.Memories   // nil if no values are wanted
	fetch    target.FetchLimits // how much is fetched of what pointers lead to
	each     bool               // single calls are wanted, and not their totals
	last     *engine.Table
}

// run arms the source, and removes the probes whatever happens. give gets single calls, or totals; once it says no, the trace ends at once.
func (j *job) run(ctx context.Context, every time.Duration, give func(*Call, *Report) bool) (err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	j.totals = engine.NewTotals(j.request.Plan, engine.TotalsOptions{Clock: j.source.Clock(), Costs: trace.NoCosts{}})
	if err := j.source.Arm(ctx); err != nil {
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
	err = j.read(trace.Watch(ctx, j.source, j.program, every), give)
	switch {
	case errors.Is(err, errBroken):
		return err
	case errors.Is(err, trace.ErrWritten):
		err = j.request.Target.WrittenTo()
	}
	if drained := j.read(trace.Drain(j.source), give); drained != nil {
		return errors.Join(err, drained)
	}
	return errors.Join(err, j.reading(give))
}

// read takes what the source tells.
func (j *job) read(items iter.Seq2[*pairing.Item, error], give func(*Call, *Report) bool) error {
	for it, err := range items {
		if err != nil {
			return err
		}
		j.totals.Take(it)
		goOn := true
		switch {
		case it.What == pairing.Began && j.each:
			goOn = give(j.call(it.Call, Open), nil)
		case it.What == pairing.Ended && j.each:
			goOn = give(j.call(it.Call, Outcome(it.Call.Outcome)), nil)
		case it.What == pairing.Marked:
			if err := j.reading(give); err != nil {
				return err
			}
		case it.What == pairing.Gone && j.memories != nil:
			j.memories.Forget(it.PID)
		}
		if !goOn {
			return errBroken
		}
	}
	return nil
}

// reading gives the totals that there are now, unless single calls are wanted.
func (j *job) reading(give func(*Call, *Report) bool) error {
	r, err := j.source.Reading()
	if r == nil {
		return err
	}
	if j.last = j.totals.At(r); !j.each && !give(nil, j.report(j.last)) {
		return errBroken
	}
	return err
}

// close removes what is left of the trace.
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
		_ = j.fs.RemoveHeld() // instances without probes, which others hold
	}
	return err
}

// call is one that is the caller's to keep.
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
