package view

import (
	"errors"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// stackRows are the stacks of all calls that have ended.
func stackRows(s *trace.Stacks, plan *uprobe.Plan) []render.Stack {
	var rows []render.Stack
	for _, r := range s.Rows() {
		f := &plan.Funcs[r.Func]
		at := stats.Location{Addr: f.Addr, Frames: []stats.Frame{{Function: f.Name}}}
		if frames := plan.Binary.Frames(f.Addr); len(frames) > 0 {
			outer := frames[len(frames)-1]
			at.Frames[0].File, at.Frames[0].Line = outer.File, outer.Line
		}
		rows = append(rows, render.Stack{StackRow: r, Function: f.Name, At: at, Callers: s.Locations(r.PCs, f.Name)})
	}
	return rows
}

// writeStacks writes the stacks of probe behind the functions.
func (r *Table) writeStacks(t *trace.Table) error {
	if r.Stacks == nil {
		return nil
	}
	rows := stackRows(r.Stacks, r.Plan)
	switch r.format {
	case render.Table:
		return render.StackText(r.Out, rows)
	case render.JSON:
		return render.StackJSON(r.Out, rows)
	case render.Folded:
		return render.FoldedStacks(r.Out, rows)
	case render.Pprof:
		b := r.Plan.Binary
		run := render.Profiled{Path: b.File().Path(), BuildID: b.File().BuildID(), Began: t.From, Duration: t.At.Sub(t.From)}
		run.Start, run.Limit, run.Offset = b.File().Segment(r.Plan.Funcs[0].Addr)
		return render.PprofStacks(r.Out, rows, run)
	}
	return nil
}

// errBinaryOutput protects terminals.
var errBinaryOutput = errors.New("-o pprof writes no text: -w FILE")

// checkTerminal refuses to write a profile to a terminal.
func (o *Options) checkTerminal(out io.Writer) error {
	if o.Format == render.Pprof && terminal.Is(out) {
		return cli.WithStatus(cli.ExitUsage, errBinaryOutput)
	}
	return nil
}
