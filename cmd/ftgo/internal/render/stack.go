package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// Stack is the calls of one function from one stack. At is where calls of the function
// begin, Callers are the callers, the innermost first.
type Stack struct {
	stats.StackRow
	Function string
	At       stats.Location
	Callers  []stats.Location
}

// unknownCallers is how callers look that are not known.
const unknownCallers = "…"

// framesOf are the functions of a stack, innermost first.
func framesOf(stack []stats.Location) (frames []stats.Frame) {
	for _, l := range stack {
		if l.Addr == 0 {
			frames = append(frames, stats.Frame{Function: unknownCallers})
		}
		frames = append(frames, l.Frames...)
	}
	return frames
}

// appendStack writes the functions of a stack, a line each, and each with a newline before.
func appendStack(b []byte, indent string, stack []stats.Location) []byte {
	for _, f := range framesOf(stack) {
		b = append(append(append(b, '\n'), indent...), printable.Text(f.Function)...)
		if f.File != "" {
			b = append(append(b, ' '), printable.Text(path.Base(f.File))...)
			b = strconv.AppendInt(append(b, ':'), int64(f.Line), 10)
		}
	}
	return b
}

// appendStackJSON writes the functions of a stack as a list of objects.
func appendStackJSON(b []byte, stack []stats.Location) []byte {
	b = append(b, '[')
	for i, f := range framesOf(stack) {
		if i > 0 {
			b = append(b, ',')
		}
		b = printable.AppendJSON(append(b, `{"function":`...), f.Function)
		if f.File != "" {
			b = printable.AppendJSON(append(b, `,"file":`...), f.File)
			b = strconv.AppendInt(append(b, `,"line":`...), int64(f.Line), 10)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// StackText writes, for people, each function's stacks under its name, in the order given:
//
//	main.get: 3 stacks
//	      600 calls  total 1.2ms  mean 2.0µs  max 10µs
//	        main.handle server.go:42
//	        main.main main.go:7
func StackText(w io.Writer, stacks []Stack) error {
	var b []byte
	for i, s := range stacks {
		if i == 0 || stacks[i-1].Func != s.Func {
			n := 1
			for i+n < len(stacks) && stacks[i+n].Func == s.Func {
				n++
			}
			b = fmt.Appendf(b, "\n%s: %s\n", printable.Text(s.Function), units.Plural(uint64(n), "stack"))
		}
		b = fmt.Appendf(b, "%8d call", s.Calls)
		if s.Calls != 1 {
			b = append(b, 's')
		}
		if s.Completed > 0 {
			b = fmt.Appendf(b, "  total %s  mean %s  max %s", units.Duration(s.Sum), units.Duration(s.Sum/int64(s.Completed)), units.Duration(s.Max))
		}
		b = append(appendStack(b, "        ", s.Callers), '\n')
	}
	return write(w, "stacks", b)
}

// StackJSON writes an object for each stack.
func StackJSON(w io.Writer, stacks []Stack) error {
	var b []byte
	for _, s := range stacks {
		b = printable.AppendJSON(append(b, `{"type":"stack","function":`...), s.Function)
		b = fmt.Appendf(b, `,"calls":%d,"completed":%d,"unwound":%d,"open":%d`, s.Calls, s.Completed, s.Unwound, s.Open)
		if s.Completed > 0 {
			b = fmt.Appendf(b, `,"ns":{"min":%d,"mean":%d,"max":%d,"sum":%d,"self":%d`, s.Min, s.Sum/int64(s.Completed), s.Max, s.Sum, s.Self)
			if s.Raw > s.Low {
				b = fmt.Appendf(b, `,"sum_low":%d,"sum_high":%d,"sum_raw":%d`, s.Low, s.High, s.Raw)
			}
			b = append(b, '}')
		}
		b = append(appendStackJSON(append(b, `,"stack":`...), s.Callers), "}\n"...)
	}
	return write(w, "stacks", b)
}

// FoldedStacks writes a line for each stack as flamegraph.pl and its kin take them: the
// functions from the outermost to the one called, between semicolons, and the number of
// calls. Stacks that differ in nothing but source lines are one.
func FoldedStacks(w io.Writer, stacks []Stack) error {
	calls := make(map[string]uint64)
	for _, s := range stacks {
		var line string
		for _, f := range slices.Backward(framesOf(s.Callers)) {
			line += foldedName(f.Function) + ";"
		}
		calls[line+foldedName(s.Function)] += s.Calls
	}
	lines := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), strings.Compare(a, b))
	})
	var b []byte
	for _, line := range lines {
		b = fmt.Appendf(b, "%s %d\n", line, calls[line])
	}
	return write(w, "stacks", b)
}

// foldedName is a name without what separates names: type arguments have semicolons,
// "struct { A int; B int }".
func foldedName(name string) string { return strings.ReplaceAll(printable.Text(name), ";", ",") }
