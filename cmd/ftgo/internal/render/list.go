package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
)

// position returns the file and line of a function, or "" if they are unknown.
func position(r target.Listed) string {
	if r.File == "" {
		return ""
	}
	return r.File + ":" + strconv.Itoa(r.Line)
}

// hex returns n in hexadecimal, or "" if the function has no code of its own, for example because all its calls are inlined.
func hex(r target.Listed, n uint64) string {
	if r.Addr == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", n)
}

// listNote returns the note of a function, with the number of its tail jumps. A tail jump also ends a call, but the column
// RETURNS does not count it.
func listNote(r target.Listed) string {
	_, jumps := r.Ends()
	if jumps == 0 {
		return r.Note
	}
	return strings.TrimSuffix(printable.Plural(jumps, "tail jump")+"; "+r.Note, "; ")
}

// inlinedAt returns a JSON object for each inlined call of a function. It never returns nil, so that JSON contains [] and
// not null.
func inlinedAt(sites []offsets.Frame) []Row {
	calls := make([]Row, len(sites))
	for i, s := range sites {
		calls[i] = Row{{"function", s.Function}, {"file", s.File}, {"line", s.Line}}
	}
	return calls
}

// List writes a row for each function. A table shows signatures where
// they are known. It contains the column NOTE only if some row has notes, SOURCE only if the source of some signature is known,
// and POSITION only if the source file of some row is known. POSITION shows files without directories.
func List(w io.Writer, rows []target.Listed, o Style) error {
	if f := o.Format; f != Table {
		return WriteRows(w, f, true, func(r target.Listed) Row {
			returns, _ := r.Ends()
			return Row{
				{"type", ColumnIf(f == JSON, "listing")}, {"function", r.Name},
				{"address", hex(r, r.Addr)}, {"offset", hex(r, r.Offset)}, {"size", r.Size}, {"abi", r.Convention()},
				{"entry", r.Entry()}, {"returns", returns}, {"position", position(r)}, {"signature", r.Signature}, {"source", r.Source}, {"inlined", inlinedAt(r.Inlined)}, {"note", listNote(r)},
			}
		}, rows...)
	}
	notes := slices.ContainsFunc(rows, func(r target.Listed) bool { return listNote(r) != "" })
	sources := slices.ContainsFunc(rows, func(r target.Listed) bool { return r.Source != "" })
	positions := slices.ContainsFunc(rows, func(r target.Listed) bool { return r.File != "" })
	name := func(r target.Listed) string { return cmp.Or(r.Signature, r.Name) }
	short := ShortNames(o.Full, rows, name)
	return WriteTable(w, o.Width, rows, func(r target.Listed) Row {
		at := position(r)
		returns, _ := r.Ends()
		return Row{
			{"FUNCTION", cmp.Or(short[name(r)], name(r))}, {"POSITION", ColumnIf(positions, Nonzero(at[strings.LastIndexByte(at, '/')+1:]))},
			{"ADDRESS", Nonzero(hex(r, r.Addr))}, {"OFFSET", Nonzero(hex(r, r.Offset))}, {"SIZE", Nonzero(r.Size)},
			{"ABI", Nonzero(r.Convention())}, {"ENTRY", r.Entry()},
			{"RETURNS", ValueIf(r.Size > 0, returns)}, {"SOURCE", ColumnIf(sources, Nonzero(r.Source))}, {"NOTE", ColumnIf(notes, listNote(r))},
		}
	})
}

// Variables writes a table of package variables.
func Variables(w io.Writer, variables []offsets.Variable) error {
	return WriteTable(w, 0, variables, func(v offsets.Variable) Row {
		return Row{{"VARIABLE", v.Name}, {"TYPE", cmp.Or(v.Type, &gotype.Type{}).Name}}
	})
}
