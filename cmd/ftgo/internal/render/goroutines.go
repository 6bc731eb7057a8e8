package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// GoroutineText writes a line for each group of goroutines, and the stack below it:
//
//	12 goroutines  +2  chan receive ≥1m30s  created by main.main main.go:12
//	    main.worker main.go:33
//
// The time after ≥ is the lower bound of the longest wait. GoroutineText shows the same frames as stack dumps. It shortens names
// so that lines of stacks fit into width columns, unless width is 0.
func GoroutineText(w io.Writer, groups []stats.Goroutines, width int) error {
	var b []byte
	for i := range groups {
		g := &groups[i]
		n := len(g.Members)
		b = fmt.Appendf(b, "%8d goroutine%s", n, map[bool]string{false: "s"}[n == 1])
		if g.Compared {
			b = fmt.Appendf(b, "  %+d", g.Change)
		}
		b = append(b, "  "+printable.Text(g.State)...)
		if waited := g.Waited(); waited > 0 {
			b = fmt.Appendf(b, " ≥%s", time.Duration(waited).Truncate(time.Second/10))
		}
		if g.Locked {
			b = append(b, ", locked to thread"...)
		}
		if c := g.Creator; c.Function != "" {
			b = appendFrame(b, "  created by ", c, 0)
		}
		b = append(appendStack(b, "        ", dumped(g.Stack), width), '\n')
	}
	return write(w, b)
}

// dumpedEnds is the number of innermost, and of outermost frames that a stack dump shows (tracebackInnerFrames in
// runtime/traceback.go).
const dumpedEnds = 50

// dumped returns the frames that a stack dump shows. It leaves out functions of the runtime that are not exported, unless the
// stack has no others (showfuncinfo in runtime/traceback.go).
func dumped(stack []stats.Location) []offsets.Frame {
	all := framesOf(stack)
	shown := slices.DeleteFunc(slices.Clone(all), func(f offsets.Frame) bool {
		local, isRuntime := strings.CutPrefix(f.Function, "runtime.")
		switch local {
		case "gopanic":
			return f == all[0]
		case "runfinq", "runFinalizers", "runCleanups", "…":
			return false
		}
		return isRuntime && (local == "" || local[0] < 'A' || 'Z' < local[0]) || !strings.Contains(f.Function, ".")
	})
	if len(shown) == 0 {
		shown = all
	}
	if n := len(shown) - 2*dumpedEnds; n > 0 {
		shown = slices.Replace(shown, dumpedEnds, dumpedEnds+n, offsets.Frame{Function: fmt.Sprintf("...%d frames elided...", n)})
	}
	return shown
}

// GoroutineDump writes a stack dump of goroutines in the format of Go's panics (traceback1 in runtime/traceback.go). In place of
// arguments it writes "(...)", which Go writes for inlined functions.
func GoroutineDump(w io.Writer, groups []stats.Goroutines) error {
	type one struct {
		stats.Goroutine
		*stats.Goroutines
	}
	var all []one
	for i := range groups {
		for _, m := range groups[i].Members {
			all = append(all, one{m, &groups[i]})
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.ID, b.ID) })
	var b []byte
	function := func(f offsets.Frame, after string) {
		name := f.Function
		if open, shut := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); 0 <= open && open < shut {
			name = name[:open] + "[...]" + name[shut+1:]
		} else if name == "runtime.gopanic" {
			name = "panic"
		}
		b = fmt.Appendf(b, "%s%s\n\t%s:%d\n", printable.Text(name), after, printable.Text(cmp.Or(f.File, "?")), f.Line)
	}
	for i, g := range all {
		if i > 0 {
			b = append(b, '\n')
		}
		b = fmt.Appendf(b, "goroutine %d [%s", g.ID, printable.Text(g.State))
		if minutes := g.Stated / int64(time.Minute); minutes > 0 {
			b = fmt.Appendf(b, ", %d minutes", minutes)
		}
		if g.Locked {
			b = append(b, ", locked to thread"...)
		}
		b = append(b, "]:\n"...)
		if len(g.Stack) == 0 {
			b = append(b, "\tgoroutine running on other thread; stack unavailable\n"...)
		}
		for _, f := range dumped(g.Stack) {
			switch {
			case f.Function == "…": // of unknown callers
				b = append(b, "...additional frames elided...\n"...)
			case strings.HasPrefix(f.Function, "..."):
				b = append(b, f.Function+"\n"...)
			default:
				function(f, "(...)")
			}
		}
		if c := g.Creator; c.Function != "" {
			in := ""
			if g.Parent != 0 {
				in = fmt.Sprintf(" in goroutine %d", g.Parent)
			}
			b = append(b, "created by "...)
			function(c, in)
		}
	}
	return write(w, b)
}

// GoroutineRows writes a row for each group of goroutines as JSON, CSV or TSV.
func GoroutineRows(w io.Writer, f Format, groups []stats.Goroutines) error {
	return WriteRows(w, f, true, func(g stats.Goroutines) Row {
		ids := []uint64{}
		for _, m := range g.Members {
			ids = append(ids, m.ID)
		}
		created := Row{{"function", g.Creator.Function}, {"file", g.Creator.File}, {"line", g.Creator.Line}}
		isJSON := f == JSON
		return Row{
			{"type", ColumnIf(isJSON, "goroutines")}, {"state", g.State}, {"locked", g.Locked},
			{"goroutines", len(g.Members)}, {"change", ValueIf(g.Compared, g.Change)},
			{"waited_ns", Nonzero(g.Waited())},
			{"created_by", ColumnIf(isJSON, ValueIf(g.Creator.Function != "", created))}, {"created_by_function", ColumnIf(!isJSON, g.Creator.Function)},
			{"ids", ColumnIf(isJSON, ids)}, {"stack", &g.Stack},
		}
	}, groups...)
}

// GoroutineStacks returns a row for each group, with the number of goroutines as calls. The innermost function is the state.
func GoroutineStacks(groups []stats.Goroutines) (rows []stats.StackRow) {
	for _, g := range groups {
		state := offsets.Frame{Function: "[" + g.State + "]"}
		at := stats.Location{Frames: []offsets.Frame{state}}
		rows = append(rows, stats.StackRow{Calls: uint64(len(g.Members)), Function: state.Function, At: at, Callers: g.Stack})
	}
	return rows
}
