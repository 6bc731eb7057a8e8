package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// stackValue is the flag value of --stack, the number of callers.
type stackValue struct{ depth *int }

func (v stackValue) String() string {
	if v.depth == nil || *v.depth == 0 {
		return ""
	}
	return strconv.Itoa(*v.depth)
}

func (v stackValue) Type() string { return "DEPTH" }

// accepts takes all numbers, for Set to refuse those that are no depth.
func (v stackValue) accepts(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

func (v stackValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > uprobe.MaxStack {
		return fmt.Errorf("parse depth %q: not 1 to %d", text, uprobe.MaxStack)
	}
	*v.depth = n
	return nil
}

func (o *options) defineStack(fs *pflag.FlagSet, about string) {
	f := fs.VarPF(stackValue{&o.stack}, "stack", "s", about)
	f.NoOptDefVal = strconv.Itoa(uprobe.MaxStack)
}

// checkStack refuses what does not go with stacks, and formats of stacks where there are
// none. aggregated tells probe from other commands.
func (o *options) checkStack(command string, aggregated bool) error {
	profile := o.format == render.Folded || o.format == render.Pprof
	switch {
	case profile && !aggregated:
		return cli.Usage("%s: -o %s is for probe", command, o.format)
	case profile && o.interval > 0:
		return cli.Usage("%s: -o %s is of a whole run: no -i", command, o.format)
	case profile && o.stack == 0:
		o.stack = uprobe.MaxStack
	case aggregated && o.stack > 0 && (o.format == render.CSV || o.format == render.TSV):
		return cli.Usage("%s: --stack has tables, -o json, folded or pprof: no -o %s", command, o.format)
	}
	return nil
}

// sayStack tells where stacks end early.
func sayStack(e *env, o *options, plan *uprobe.Plan) {
	if v, isGo := plan.Binary.GoVersion(); isGo && plan.Stack < o.stack {
		e.Say("%s keeps no frame pointers: of each stack only the caller is known", v)
	}
}

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
func (r *report) writeStacks(t *trace.Table) error {
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
		run := render.Profiled{Path: b.Path(), BuildID: b.BuildID(), Began: t.From, Duration: t.At.Sub(t.From)}
		run.Start, run.Limit, run.Offset = b.Segment(r.Plan.Funcs[0].Addr)
		return render.PprofStacks(r.Out, rows, run)
	}
	return nil
}

// errBinaryOutput protects terminals.
var errBinaryOutput = errors.New("-o pprof writes no text: -w FILE")

// checkTerminal refuses to write a profile to a terminal.
func (o *options) checkTerminal(out io.Writer) error {
	if o.format == render.Pprof && terminal.Is(out) {
		return cli.WithStatus(cli.ExitUsage, errBinaryOutput)
	}
	return nil
}
