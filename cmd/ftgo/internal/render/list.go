package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ListRow is a function that can be probed, or, with a Note that says so, cannot; or a
// single instruction.
type ListRow struct {
	Name string
	// Addr is the function's address as linked, Offset where its code is in the file;
	// both are 0 if it has none.
	Addr, Offset uint64
	// Size of the code in bytes, 0 for an instruction.
	Size uint64
	// File and Line are where the source has it; "" and 0 if that is not known.
	File string
	Line int
	// ABI is the calling convention.
	ABI string
	// Entry says where the entry probe goes.
	Entry string
	// Returns is the number of return instructions, TailJumps that of jumps which
	// leave the function instead.
	Returns, TailJumps int
	// Signature is the name with parameters and results, "" if they are not known.
	Signature string
	// Inlined is where the function was put into others.
	Inlined []InlinedCall
	// Note is what else is to be known of it.
	Note string
}

// InlinedCall is a place where code of a function is part of another.
type InlinedCall struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// position is file and line, "" if not known.
func (r ListRow) position() string {
	if r.File == "" {
		return ""
	}
	return r.File + ":" + strconv.Itoa(r.Line)
}

// address is "" for a function without code.
func (r ListRow) address() string {
	if r.Addr == 0 {
		return ""
	}
	return hex(r.Addr)
}

func (r ListRow) offset() string {
	if r.Addr == 0 {
		return ""
	}
	return hex(r.Offset)
}

// note tells tail jumps as well: RETURNS alone would look like a missing exit.
func (r ListRow) note() string {
	if r.TailJumps == 0 {
		return r.Note
	}
	note := plural(uint64(r.TailJumps), "tail jump")
	if r.Note != "" {
		note += "; " + r.Note
	}
	return note
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
	Inlined   []InlinedCall `json:"inlined"`
	Note      string        `json:"note"`
}

// List writes the functions in the order given; width limits tables as in [Options].
// A table has no NOTE column where there is nothing to note, and POSITION, without
// folders, only where there is room for it.
func List(w io.Writer, f Format, rows []ListRow, width int) error {
	switch f {
	case JSON:
		return listJSON(w, rows)
	case CSV, TSV:
		return writeRecords(w, f, listRecords(rows))
	}
	positions := slices.ContainsFunc(rows, func(r ListRow) bool { return r.File != "" })
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
			widths[i] = max(widths[i], columns(cell))
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

func listGrid(rows []ListRow, positions bool) grid {
	g := grid{
		header: []string{"FUNCTION", "ADDRESS", "OFFSET", "SIZE", "ABI", "ENTRY", "RETURNS"},
		left:   []bool{true, false, false, false, true, true, false},
	}
	if positions {
		g.header = slices.Insert(g.header, 1, "POSITION")
		g.left = slices.Insert(g.left, 1, true)
	}
	notes := slices.ContainsFunc(rows, func(r ListRow) bool { return r.note() != "" })
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
			Escape(r.Name), dash(r.address()), dash(r.offset()), dash(size),
			dash(Escape(r.ABI)), Escape(r.Entry), dash(returns),
		}
		if positions {
			r.File = r.File[strings.LastIndexByte(r.File, '/')+1:]
			cells = slices.Insert(cells, 1, dash(Escape(r.position())))
		}
		if notes {
			cells = append(cells, Escape(r.note()))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

func listRecords(rows []ListRow) [][]string {
	records := [][]string{{"function", "address", "offset", "size", "abi", "entry", "returns", "position", "signature", "inlined", "note"}}
	for _, r := range rows {
		records = append(records, []string{
			textCell(r.Name), r.address(), r.offset(), strconv.FormatUint(r.Size, 10),
			textCell(r.ABI), textCell(r.Entry), strconv.Itoa(r.Returns),
			textCell(r.position()), textCell(r.Signature), strconv.Itoa(len(r.Inlined)), textCell(r.note()),
		})
	}
	return records
}

func listJSON(w io.Writer, rows []ListRow) error {
	lines := jsonLines{}
	for _, r := range rows {
		lines.add(listLine{
			Type: "listing", Function: r.Name, Address: r.address(), Offset: r.offset(), Size: r.Size,
			ABI: r.ABI, Entry: r.Entry, Returns: r.Returns, Position: r.position(), Signature: r.Signature,
			// A list without elements is [], not null.
			Inlined: append([]InlinedCall{}, r.Inlined...), Note: r.note(),
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
