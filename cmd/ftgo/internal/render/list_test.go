package render

import (
	"bytes"
	"testing"

	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
)

func listed() []target.Row {
	return []target.Row{
		{Name: "main.(*Store).Get", Addr: 0x4a1b20, Offset: 0xa1b20, Size: 312, File: "/src/store/store.go", Line: 42, ABI: "ABIInternal", Entry: "after check", Returns: 3},
		{Name: "github.com/a/b/c/pkg.(*VeryLongTypeName).VeryLongMethodName", Addr: 0x4a1c60, Offset: 0xa1c60, Size: 96, ABI: "ABIInternal", Entry: "start", Returns: 1, TailJumps: 2},
		{Name: "runtime.memmove", Addr: 0x47f0a0, Offset: 0x7f0a0, Size: 1500, ABI: "ABI0", Entry: "start", Returns: 9, TailJumps: 1, Note: "entry only: undecodable byte at +0x1a"},
	}
}

// inlinedRows are what has no code of its own, what has, too, and an instruction.
func inlinedRows() []target.Row {
	return []target.Row{
		{Name: "main.grow", Entry: "none", Note: "no code of its own: inlined at 1 place: main.f main.go:16",
			Inlined: []offsets.Frame{{Function: "main.f", File: "/src/main.go", Line: 16}}},
		{Name: "main.double", Addr: 0x4a1b20, Offset: 0xa1b20, Size: 32, File: "/src/main.go", Line: 9, ABI: "ABIInternal", Entry: "start", Returns: 1,
			Note: "calls not seen: also inlined at 2 places", Inlined: []offsets.Frame{{Function: "main.f", File: "/src/main.go", Line: 17}, {Function: "main.g"}}},
		{Name: "store.go:42", Addr: 0x4a1b2a, Offset: 0xa1b2a, File: "/src/store.go", Line: 42, ABI: "ABI0", Entry: "instruction"},
	}
}

func TestListGolden(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		rows   []target.Row
		width  int
	}{
		{"list.table", Table, listed(), 0},
		{"list-100.table", Table, listed(), 100},
		{"list-without-notes.table", Table, listed()[:1], 80},
		{"list-inlined.table", Table, inlinedRows(), 0},
		{"list-inlined-160.table", Table, inlinedRows(), 160},
		{"list-inlined.json", JSON, inlinedRows(), 0},
		{"list-inlined.csv", CSV, inlinedRows(), 0},
		{"list.json", JSON, listed(), 0},
		{"list.csv", CSV, listed(), 0},
		{"list.tsv", TSV, listed(), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, func(w *bytes.Buffer) error {
				return List(w, test.rows, Options{Format: test.format, Width: test.width})
			})
		})
	}
}
