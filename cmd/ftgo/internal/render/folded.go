package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// FoldedStacks writes a line for each stack as flamegraph.pl and its kin take them: the
// functions from the outermost to the one called, between semicolons, and the number of
// calls. Stacks that differ in nothing but source lines are one.
func FoldedStacks(w io.Writer, stacks []Stack) error {
	calls := make(map[string]uint64)
	var lines []string
	for _, s := range stacks {
		frames := framesOf(s.Callers)
		names := make([]string, 0, len(frames)+1)
		for _, f := range slices.Backward(frames) {
			names = append(names, foldedName(f.Function))
		}
		line := strings.Join(append(names, foldedName(s.Function)), ";")
		if calls[line] == 0 {
			lines = append(lines, line)
		}
		calls[line] += s.Calls
	}
	slices.SortFunc(lines, func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), strings.Compare(a, b))
	})
	var b []byte
	for _, line := range lines {
		b = append(append(b, line...), ' ')
		b = append(strconv.AppendUint(b, calls[line], 10), '\n')
	}
	return write(w, "stacks", b)
}

// foldedName is a name without what separates names: type arguments have semicolons,
// "struct { A int; B int }".
func foldedName(name string) string { return strings.ReplaceAll(printable.Text(name), ";", ",") }
