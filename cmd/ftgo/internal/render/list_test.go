package render

import (
	"bytes"
	"strings"
	"testing"
)

func listed() []ListRow {
	return []ListRow{
		{Name: "main.(*Store).Get", Addr: 0x4a1b20, Offset: 0xa1b20, Size: 312, ABI: "ABIInternal", Entry: "after stack check", Returns: 3},
		{Name: "github.com/a/b/c/pkg.(*VeryLongTypeName).VeryLongMethodName", Addr: 0x4a1c60, Offset: 0xa1c60, Size: 96, ABI: "ABIInternal", Entry: "start", Returns: 1, TailJumps: 2},
		{Name: "runtime.memmove", Addr: 0x47f0a0, Offset: 0x7f0a0, Size: 1500, ABI: "ABI0", Entry: "start", Returns: 9, TailJumps: 1, Note: "entry only: undecodable byte at +0x1a"},
	}
}

func TestListGolden(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		rows   []ListRow
		width  int
	}{
		{"list.table", Table, listed(), 0},
		{"list-100.table", Table, listed(), 100},
		{"list-without-notes.table", Table, listed()[:1], 80},
		{"list.json", JSON, listed(), 0},
		{"list.csv", CSV, listed(), 0},
		{"list.tsv", TSV, listed(), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, func(w *bytes.Buffer) error { return List(w, test.format, test.rows, test.width) })
		})
	}
}

func TestListTableWidth(t *testing.T) {
	for _, width := range []int{90, 100, 132, 200} {
		var b bytes.Buffer
		if err := List(&b, Table, listed(), width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if got := columns(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("width %d: %d columns: %q", width, got, line)
			}
		}
	}
}
