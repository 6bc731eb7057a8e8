package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// ListRow is a function that can be probed, or, with a Note that says so, cannot.
type ListRow struct {
	Name string
	// Addr is the function's address as linked, Offset where its code is in the file.
	Addr, Offset uint64
	// Size of the code in bytes.
	Size uint64
	// ABI is the calling convention.
	ABI string
	// Entry says where the entry probe goes.
	Entry string
	// Returns is the number of return instructions, TailJumps that of jumps which
	// leave the function instead.
	Returns, TailJumps int
	// Note is what else is to be known of it.
	Note string
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
	Type     string `json:"type"`
	Function string `json:"function"`
	Address  string `json:"address"`
	Offset   string `json:"offset"`
	Size     uint64 `json:"size"`
	ABI      string `json:"abi"`
	Entry    string `json:"entry"`
	Returns  int    `json:"returns"`
	Note     string `json:"note"`
}

// List writes the functions in the order given; width limits tables as in [Options].
// A table has no NOTE column where there is nothing to note.
func List(w io.Writer, f Format, rows []ListRow, width int) error {
	switch f {
	case JSON:
		return listJSON(w, rows)
	case CSV, TSV:
		return writeRecords(w, f, listRecords(rows))
	}
	return writeTable(w, width, func(bool) grid { return listGrid(rows) })
}

func listGrid(rows []ListRow) grid {
	g := grid{
		header: []string{"FUNCTION", "ADDRESS", "OFFSET", "SIZE", "ABI", "ENTRY", "RETURNS"},
		left:   []bool{true, false, false, false, true, true, false},
	}
	notes := slices.ContainsFunc(rows, func(r ListRow) bool { return r.note() != "" })
	if notes {
		g.header = append(g.header, "NOTE")
		g.left = append(g.left, true)
	}
	for _, r := range rows {
		cells := []string{
			Escape(r.Name), hex(r.Addr), hex(r.Offset), strconv.FormatUint(r.Size, 10),
			Escape(r.ABI), Escape(r.Entry), strconv.Itoa(r.Returns),
		}
		if notes {
			cells = append(cells, Escape(r.note()))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

func listRecords(rows []ListRow) [][]string {
	records := [][]string{{"function", "address", "offset", "size", "abi", "entry", "returns", "note"}}
	for _, r := range rows {
		records = append(records, []string{
			textCell(r.Name), hex(r.Addr), hex(r.Offset), strconv.FormatUint(r.Size, 10),
			textCell(r.ABI), textCell(r.Entry), strconv.Itoa(r.Returns), textCell(r.note()),
		})
	}
	return records
}

func listJSON(w io.Writer, rows []ListRow) error {
	lines := jsonLines{}
	for _, r := range rows {
		lines.add(listLine{
			Type: "listing", Function: r.Name, Address: hex(r.Addr), Offset: hex(r.Offset), Size: r.Size,
			ABI: r.ABI, Entry: r.Entry, Returns: r.Returns, Note: r.note(),
		})
	}
	return lines.write(w)
}

func hex(n uint64) string { return fmt.Sprintf("0x%x", n) }
