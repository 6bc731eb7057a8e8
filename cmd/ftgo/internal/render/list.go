package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/offsets"
)

// listPosition is file and line, "" if not known.
func listPosition(r target.Row) string {
	if r.File == "" {
		return ""
	}
	return r.File + ":" + strconv.Itoa(r.Line)
}

// listAddress is "" for a function without code.
func listAddress(r target.Row) string {
	if r.Addr == 0 {
		return ""
	}
	return hex(r.Addr)
}

func listOffset(r target.Row) string {
	if r.Addr == 0 {
		return ""
	}
	return hex(r.Offset)
}

// listNote tells tail jumps as well: RETURNS alone would look like a missing exit.
func listNote(r target.Row) string {
	if r.TailJumps == 0 {
		return r.Note
	}
	note := units.Plural(uint64(r.TailJumps), "tail jump")
	if r.Note != "" {
		note += "; " + r.Note
	}
	return note
}

type inlinedCall struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// inlinedCalls is [] if there are none, not null.
func inlinedCalls(sites []offsets.Frame) []inlinedCall {
	calls := make([]inlinedCall, len(sites))
	for i, s := range sites {
		calls[i] = inlinedCall{s.Function, s.File, s.Line}
	}
	return calls
}

type listLine struct {
	Type      string        `json:"type"`
	Function  string        `json:"function"`
	Address   string        `json:"address"`
	Offset    string        `json:"offset"`
	Size      uint64        `json:"size"`
	ABI       string        `json:"abi"`
	Entry     string        `json:"entry"`
	Returns   int           `json:"returns"`
	Position  string        `json:"position"`
	Signature string        `json:"signature"`
	Inlined   []inlinedCall `json:"inlined"`
	Note      string        `json:"note"`
}

// List writes the functions in the order given; width limits tables as in [Options].
// A table has no NOTE column where there is nothing to note, and POSITION, without
// folders, only where there is room for it.
func List(w io.Writer, f Format, rows []target.Row, width int) error {
	switch f {
	case JSON:
		return listJSON(w, rows)
	case CSV, TSV:
		return writeRecords(w, f, listRecords(rows))
	}
	positions := slices.ContainsFunc(rows, func(r target.Row) bool { return r.File != "" })
	if positions && width > 0 {
		g := listGrid(rows, true)
		positions = g.width(fits[0].gap, minNote) <= width
	}
	return writeTable(w, width, func(bool) grid { return listGrid(rows, positions) })
}

// width is that of the table if no name is shortened, and notes at most to note.
func (g grid) width(gap, note int) int {
	widths := make([]int, len(g.header))
	for _, row := range append(g.rows, g.header) {
		for i, cell := range row {
			widths[i] = max(widths[i], printable.Columns(cell))
		}
	}
	last := len(widths) - 1
	if g.left[last] {
		widths[last] = min(widths[last], note)
	}
	total := gap * last
	for _, w := range widths {
		total += w
	}
	return total
}

func listGrid(rows []target.Row, positions bool) grid {
	g := grid{
		header: []string{"FUNCTION", "ADDRESS", "OFFSET", "SIZE", "ABI", "ENTRY", "RETURNS"},
		left:   []bool{true, false, false, false, true, true, false},
	}
	if positions {
		g.header = slices.Insert(g.header, 1, "POSITION")
		g.left = slices.Insert(g.left, 1, true)
	}
	notes := slices.ContainsFunc(rows, func(r target.Row) bool { return listNote(r) != "" })
	if notes {
		g.header = append(g.header, "NOTE")
		g.left = append(g.left, true)
	}
	for _, r := range rows {
		size, returns := "", ""
		if r.Size > 0 {
			size, returns = strconv.FormatUint(r.Size, 10), strconv.Itoa(r.Returns)
		}
		cells := []string{
			printable.Text(r.Name), dash(listAddress(r)), dash(listOffset(r)), dash(size),
			dash(printable.Text(r.ABI)), printable.Text(r.Entry), dash(returns),
		}
		if positions {
			r.File = r.File[strings.LastIndexByte(r.File, '/')+1:]
			cells = slices.Insert(cells, 1, dash(printable.Text(listPosition(r))))
		}
		if notes {
			cells = append(cells, printable.Text(listNote(r)))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

func listRecords(rows []target.Row) [][]string {
	records := [][]string{{"function", "address", "offset", "size", "abi", "entry", "returns", "position", "signature", "inlined", "note"}}
	for _, r := range rows {
		records = append(records, []string{
			textCell(r.Name), listAddress(r), listOffset(r), strconv.FormatUint(r.Size, 10),
			textCell(r.ABI), textCell(r.Entry), strconv.Itoa(r.Returns),
			textCell(listPosition(r)), textCell(r.Signature), strconv.Itoa(len(r.Inlined)), textCell(listNote(r)),
		})
	}
	return records
}

func listJSON(w io.Writer, rows []target.Row) error {
	lines := jsonLines{}
	for _, r := range rows {
		lines.add(listLine{
			Type: "listing", Function: r.Name, Address: listAddress(r), Offset: listOffset(r), Size: r.Size,
			ABI: r.ABI, Entry: r.Entry, Returns: r.Returns, Position: listPosition(r), Signature: r.Signature,
			Inlined: inlinedCalls(r.Inlined), Note: listNote(r),
		})
	}
	return lines.write(w)
}

// dash stands for what a row has not: an empty cell would look like a mistake.
func dash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

func hex(n uint64) string { return fmt.Sprintf("0x%x", n) }
