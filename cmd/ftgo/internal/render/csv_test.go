package render

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
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
			rows := []stats.Row{{Function: stats.Function{Name: test.in, Calls: 7}}}
			var asCSV, asTSV bytes.Buffer
			if err := Functions(&asCSV, CSV, rows, Options{NoHeader: true}); err != nil {
				t.Fatal(err)
			}
			record, err := csv.NewReader(&asCSV).Read()
			if err != nil {
				t.Fatal(err)
			}
			if record[0] != test.want || record[1] != "7" {
				t.Errorf("CSV cells %q, want %q and 7 first", record, test.want)
			}
			if err := Functions(&asTSV, TSV, rows, Options{NoHeader: true}); err != nil {
				t.Fatal(err)
			}
			if cells := strings.Split(asTSV.String(), "\t"); cells[0] != test.want || cells[1] != "7" {
				t.Errorf("TSV cells %q, want %q and 7 first", cells, test.want)
			}
		})
	}
}

func TestCSVRowsAsWideAsTheirHeader(t *testing.T) {
	for _, latency := range []bool{false, true} {
		var b bytes.Buffer
		if err := Functions(&b, TSV, append(ordinary(), eventful()...), Options{Latency: latency}); err != nil {
			t.Fatal(err)
		}
		columns := strings.Count(strings.SplitN(b.String(), "\n", 2)[0], "\t")
		for record := range strings.Lines(b.String()) {
			if n := strings.Count(record, "\t"); n != columns {
				t.Errorf("%d cells, header has %d: %q", n+1, columns+1, record)
			}
		}
	}
}
