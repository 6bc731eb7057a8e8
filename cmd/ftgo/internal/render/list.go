package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/offsets"
)

// position is file and line, "" if not known.
func position(r target.Row) string {
	if r.File == "" {
		return ""
	}
	return r.File + ":" + strconv.Itoa(r.Line)
}

// hex is "" for a function without code.
func hex(r target.Row, n uint64) string {
	if r.Addr == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", n)
}

// listNote tells tail jumps as well: RETURNS alone would look like a missing exit.
func listNote(r target.Row) string {
	if r.TailJumps == 0 {
		return r.Note
	}
	return strings.TrimSuffix(units.Plural(r.TailJumps, "tail jump")+"; "+r.Note, "; ")
}

// inlined are the places where a function is inlined: JSON has them, and CSV their number.
type inlined []object

func (i inlined) String() string { return strconv.Itoa(len(i)) }

// inlinedAt is [] if there are none, not null.
func inlinedAt(sites []offsets.Frame) inlined {
	calls := make(inlined, len(sites))
	for i, s := range sites {
		calls[i] = object{{"function", s.Function}, {"file", s.File}, {"line", s.Line}}
	}
	return calls
}

// List writes the functions in the order given; width limits tables as in [Options].
// A table has no NOTE column where there is nothing to note, and POSITION, without
// folders, only where there is room for it.
func List(w io.Writer, f Format, rows []target.Row, width int) error {
	columns := []column[target.Row]{
		{"type", f == JSON, func(target.Row) any { return "listing" }},
		{"function", true, func(r target.Row) any { return r.Name }},
		{"address", true, func(r target.Row) any { return hex(r, r.Addr) }},
		{"offset", true, func(r target.Row) any { return hex(r, r.Offset) }},
		{"size", true, func(r target.Row) any { return r.Size }},
		{"abi", true, func(r target.Row) any { return r.ABI }},
		{"entry", true, func(r target.Row) any { return r.Entry }},
		{"returns", true, func(r target.Row) any { return r.Returns }},
		{"position", true, func(r target.Row) any { return position(r) }},
		{"signature", true, func(r target.Row) any { return r.Signature }},
		{"inlined", true, func(r target.Row) any { return inlinedAt(r.Inlined) }},
		{"note", true, func(r target.Row) any { return listNote(r) }},
	}
	if f != Table {
		return writeData(w, f, true, columns, rows...)
	}
	positions := slices.ContainsFunc(rows, func(r target.Row) bool { return r.File != "" })
	if positions && width > 0 {
		roomy := newTable(listTable(rows, true), rows)
		positions = roomy.fit(width, fit{gap: 2, name: math.MaxInt})
	}
	return writeTable(w, width, false, rows, func(bool) []column[target.Row] { return listTable(rows, positions) })
}

func listTable(rows []target.Row, positions bool) []column[target.Row] {
	notes := slices.ContainsFunc(rows, func(r target.Row) bool { return listNote(r) != "" })
	return []column[target.Row]{
		{"FUNCTION", true, func(r target.Row) any { return r.Name }},
		{"POSITION", positions, func(r target.Row) any {
			text := position(r)
			return nonzero(text[strings.LastIndexByte(text, '/')+1:])
		}},
		{"ADDRESS", true, func(r target.Row) any { return nonzero(hex(r, r.Addr)) }},
		{"OFFSET", true, func(r target.Row) any { return nonzero(hex(r, r.Offset)) }},
		{"SIZE", true, func(r target.Row) any { return nonzero(r.Size) }},
		{"ABI", true, func(r target.Row) any { return nonzero(r.ABI) }},
		{"ENTRY", true, func(r target.Row) any { return r.Entry }},
		{"RETURNS", true, func(r target.Row) any { return known(r.Size > 0, r.Returns) }},
		{"NOTE", notes, func(r target.Row) any { return listNote(r) }},
	}
}
