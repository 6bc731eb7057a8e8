package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// maxTooOften is how many functions the footer names that were called too often to be
// timed.
const maxTooOften = 3

// leftToCounting tells which calls were only counted, and why.
func leftToCounting(line func(format string, args ...any), rows []stats.Row, s stats.Summary) {
	if !s.CountFirst {
		return
	}
	var early uint64
	var partly, never int
	var often []stats.Row
	for _, row := range rows {
		switch {
		case row.TooOften > 0:
			often = append(often, row)
		case row.CountedOnly == 0 || row.Note != "":
		case row.CountedOnly == row.Calls:
			never++
			early += row.CountedOnly
		default:
			partly++
			early += row.CountedOnly
		}
	}
	if early > 0 {
		line("COUNTED: %s came before their function was timed (%s), or it never was (%d); --max-rate 0 times all from the start",
			units.Plural(early, "call"), units.Plural(uint64(partly), "function"), never)
	}
	if len(often) == 0 {
		return
	}
	slices.SortStableFunc(often, func(a, b stats.Row) int { return cmp.Compare(b.TooOften, a.TooOften) })
	var names []string
	for _, row := range often[:min(len(often), maxTooOften)] {
		names = append(names, fmt.Sprintf("%s %s/s", printable.Text(row.Name), units.Compact(row.TooOften)))
	}
	if more := len(often) - maxTooOften; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	why := "as their probes would have taken too much of the program's time (--max-rate sets a rate instead)"
	if s.MaxRate > 0 {
		why = fmt.Sprintf("called more than %s times a second (--max-rate)", units.Compact(s.MaxRate))
	}
	line("* %s left to counting, %s: %s", units.Plural(uint64(len(often)), "function"), why, strings.Join(names, ", "))
}
