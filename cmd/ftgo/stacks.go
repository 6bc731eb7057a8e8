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
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
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

// stacks finds out who has called.
type stacks struct {
	binary  *offsets.Binary
	callers *uprobe.Callers
	pcs     []uint64
	known   map[stackPlace]stats.Location
	sums    stats.Stacks
}

// stackPlace is a return address, and what it is the return address of.
type stackPlace struct {
	pc     uint64
	callee calleeKind
}

// calleeKind is the kind of a function in a stack, as far as it matters to its caller.
type calleeKind uint8

const (
	ordinary calleeKind = iota
	// panicking functions show wrappers that called them (elideWrapperCalling in
	// runtime/traceback.go).
	panicking
	// trapped: it was not called, but made to look so when the instruction at the return
	// address, rather than before it, failed.
	trapped
)

var calleeKinds = map[string]calleeKind{"runtime.gopanic": panicking, "runtime.panicwrap": panicking, "runtime.sigpanic": trapped}

func newStacks(b *offsets.Binary) *stacks {
	return &stacks{binary: b, callers: uprobe.NewCallers(b), known: make(map[stackPlace]stats.Location)}
}

// of are the return addresses of a call, until the next one is asked for.
func (s *stacks) of(c *parse.Call) []uint64 {
	s.pcs = s.callers.Append(s.pcs[:0], c.Stack, c.SP, c.StackHi, c.Bias)
	return s.pcs
}

// add sums up a call that has ended.
func (s *stacks) add(c *parse.Call, timing stats.Timing, self int64) {
	if len(c.Stack) > 0 {
		s.sums.Add(c, s.of(c), timing, self)
	}
}

// locations are the functions at return addresses, as the program's own runtime.Callers
// would have them. callee is the function called.
func (s *stacks) locations(pcs []uint64, callee string) []stats.Location {
	out := make([]stats.Location, 0, len(pcs))
	kind := calleeKinds[callee]
	for _, pc := range pcs {
		l := s.location(stackPlace{pc, kind})
		if kind = ordinary; len(l.Frames) > 0 {
			kind = calleeKinds[l.Frames[len(l.Frames)-1].Function]
		}
		if len(l.Frames) > 0 || pc == uprobe.Cut {
			out = append(out, l)
		}
	}
	return out
}

func (s *stacks) location(at stackPlace) stats.Location {
	l, known := s.known[at]
	if known || at.pc == uprobe.Cut {
		return l
	}
	// Of a call, which is before the return address.
	if l.Addr = at.pc - 1; at.callee == trapped {
		l.Addr = at.pc
	}
	callee := at.callee
	for _, f := range s.binary.Frames(l.Addr) {
		if !f.Wrapper || callee != ordinary {
			l.Frames = append(l.Frames, stats.Frame{Function: f.Function, File: f.File, Line: f.Line})
		}
		callee = calleeKinds[f.Function]
	}
	s.known[at] = l
	return l
}

// rows are the stacks of all calls that have ended.
func (s *stacks) rows(plan *uprobe.Plan) []render.Stack {
	var rows []render.Stack
	for _, r := range s.sums.Rows() {
		f := &plan.Funcs[r.Func]
		at := stats.Location{Addr: f.Addr, Frames: []stats.Frame{{Function: f.Name}}}
		if frames := s.binary.Frames(f.Addr); len(frames) > 0 {
			outer := frames[len(frames)-1]
			at.Frames[0].File, at.Frames[0].Line = outer.File, outer.Line
		}
		rows = append(rows, render.Stack{StackRow: r, Function: f.Name, At: at, Callers: s.locations(r.PCs, f.Name)})
	}
	return rows
}

// writeStacks writes the stacks of probe behind the functions.
func (r *report) writeStacks(t *tracing) error {
	if t.tally.stacks == nil {
		return nil
	}
	rows := t.tally.stacks.rows(t.plan)
	switch r.format {
	case render.Table:
		return render.StackText(r.out, rows)
	case render.JSON:
		return render.StackJSON(r.out, rows)
	case render.Folded:
		return render.FoldedStacks(r.out, rows)
	case render.Pprof:
		b := t.plan.Binary
		run := render.Profiled{Path: b.Path(), BuildID: b.BuildID(), Began: t.from.At, Duration: t.until.At.Sub(t.from.At)}
		run.Start, run.Limit, run.Offset = b.Segment(t.plan.Funcs[0].Addr)
		return render.PprofStacks(r.out, rows, run)
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
