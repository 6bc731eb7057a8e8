package render

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

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

// TestIntervalRows: rows of intervals have the number and the time, those of the whole run say so.
func TestIntervalRows(t *testing.T) {
	rows := []stats.Func{{Name: "f", Calls: 7, Seconds: 10}}
	end := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, test := range []struct {
		format Format
		of     *Interval
		want   string
	}{
		{CSV, &Interval{3, end}, "function,calls,completed,unwound,open,lost,rate,interval,time\nf,7,0,0,0,0,0.700,3,2026-01-02T03:04:05.000000006Z\n"},
		{JSON, &Interval{3, end}, `"rate":0.7,"interval":3,"time":"2026-01-02T03:04:05.000000006Z"}` + "\n"},
		{JSON, &Interval{}, `"rate":0.7,"total":true}` + "\n"},
		{JSON, nil, `"rate":0.7}` + "\n"},
	} {
		var out bytes.Buffer
		if err := Functions(&out, rows, Options{Format: test.format, Interval: test.of}); err != nil || !strings.HasSuffix(out.String(), test.want) {
			t.Errorf("%v: %v, %q, want %q", test.of, err, out.String(), test.want)
		}
	}
}
