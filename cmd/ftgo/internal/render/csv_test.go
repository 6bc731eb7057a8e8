package render

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestCSVNames(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"ordinary", "main.(*T).Get", "main.(*T).Get"},
		{"quotes and commas", `main.Map[struct { A int "json:\"a,b\"" }]`, `main.Map[struct { A int "json:\"a,b\"" }]`},
		{"formula", "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
		{"plus", "+1", "'+1"},
		{"minus", "-1", "'-1"},
		{"at", "@SUM(A1)", "'@SUM(A1)"},
		{"leading tab", "\t=1", `\x09=1`},
		{"leading carriage return", "\r=1", `\x0d=1`},
		{"newline", "a\nb", `a\x0ab`},
		{"sign inside", "a=b", "a=b"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := []stats.Func{{Name: test.in, Calls: 7}}
			var asCSV, asTSV bytes.Buffer
			fixture.NoError(t, Functions(&asCSV, rows, Options{Format: CSV, NoHeader: true}))
			record, err := csv.NewReader(&asCSV).Read()
			fixture.NoError(t, err)
			if record[0] != test.want || record[1] != "7" {
				t.Errorf("CSV cells %q, want %q and 7 first", record, test.want)
			}
			fixture.NoError(t, Functions(&asTSV, rows, Options{Format: TSV, NoHeader: true}))
			if cells := strings.Split(asTSV.String(), "\t"); cells[0] != test.want || cells[1] != "7" {
				t.Errorf("TSV cells %q, want %q and 7 first", cells, test.want)
			}
		})
	}
}
