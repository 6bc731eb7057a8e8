package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func tableLines(t *testing.T, rows []stats.Func, o RowOptions) []string {
	t.Helper()
	var b bytes.Buffer
	fixture.NoError(t, Functions(&b, rows, o))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestTableColumnsLineUp(t *testing.T) {
	rows := ordinary()
	rows[0].Name = "main.世界"
	rows[1].Name = "example.org/a/long/path/to/a/module/pkg.fib"
	lines := tableLines(t, rows, RowOptions{Style: Style{Width: 80}, Latency: true})
	for _, line := range lines {
		if got, want := printable.Columns(line), printable.Columns(lines[0]); got != want {
			t.Errorf("%d columns, header has %d: %q", got, want, line)
		}
	}
}

// TestTableOfLargeSums checks the mark of sums beyond an int64.
func TestTableOfLargeSums(t *testing.T) {
	row := stats.Func{Name: "f", Amounts: &stats.Amounts{}}
	for range 3 {
		row.Amounts.Record(1 << 62)
	}
	if line := tableLines(t, []stats.Func{row}, RowOptions{Amount: "n"})[1]; !strings.Contains(line, " ≥9.22E ") || !strings.HasSuffix(line, " 4.61E") {
		t.Errorf("%q", line)
	}
}

// TestTableKeepsNumbersInANarrowTerminal checks that a narrow table leaves out numbers but never cuts one.
func TestTableKeepsNumbersInANarrowTerminal(t *testing.T) {
	cells := []string{"15501", "1550", printable.Duration(ordinary()[0].Latency.Quantile(0.5)), printable.Duration(ordinary()[0].Latency.Quantile(0.99))}
	for width, numbers := range map[int]int{1: 1, 20: 1, 26: 2, 40: 4} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			line := tableLines(t, ordinary(), RowOptions{Style: Style{Width: width}, Latency: true})[1]
			if got := strings.Fields(line)[1:]; !slices.Equal(got, cells[:numbers]) {
				t.Errorf("%d columns: %q, want %q", width, line, cells[:numbers])
			}
		})
	}
}

// TestWidths compares each table at several widths with golden files.
func TestWidths(t *testing.T) {
	crowded := append(eventful(), extreme()...)
	for i := range crowded {
		crowded[i].ReturnsErrors, crowded[i].Errors, crowded[i].Events = true, uint64(i), map[string]uint64{"sched:sched_switch": 3, "syscalls:sys_enter_write": 2, "block:block_rq_issue": 1}
		crowded[i].Split = stats.Split{Running: 2, Runnable: 1, Waiting: 97}
	}
	alike := ordinary()
	for i, name := range []string{"github.com/a/b/store.(*Store).Get", "example.org/store.(*Store).Get", "github.com/c/queue/v2.(*VeryLongTypeName).VeryLongMethodName", "gopkg.in/yaml%2ev3.Marshal", "example.org/a/b/store.(*Store).Get"} {
		alike[i].Name = name
	}
	functions := func(rows []stats.Func, o RowOptions) func(*bytes.Buffer, int) error {
		return func(w *bytes.Buffer, width int) error {
			o.Width = width
			return Functions(w, rows, o)
		}
	}
	many := &stats.Histogram{}
	fixture.NoError(t, json.Unmarshal([]byte(`{"min":1,"max":4611686018427387904,"sum":9223372036854775807,"counts":[[1,35184372088832],[16777216,1],[4611686018427387904,1]]}`), many))
	events := []string{"sched:sched_switch", "syscalls:sys_enter_write", "block:block_rq_issue"}
	for name, write := range map[string]func(w *bytes.Buffer, width int) error{
		"count":             functions(alike, RowOptions{}),
		"probe":             functions(alike, RowOptions{Latency: true}),
		"full-names":        functions(alike, RowOptions{Style: Style{Full: true}, Latency: true}),
		"crowded":           functions(crowded, RowOptions{Latency: true, Sched: true, Events: events}),
		"values":            functions(valued(false), RowOptions{Latency: true, By: true, Amount: "size"}),
		"values-of-several": functions(valued(true), RowOptions{Latency: true, By: true}),
		"list": func(w *bytes.Buffer, width int) error {
			return List(w, append(listed(), inlinedRows()...), Style{Width: width})
		},
		"stacks": func(w *bytes.Buffer, width int) error {
			callers := []stats.Location{{Addr: 1, Frames: []offsets.Frame{
				{Function: "github.com/a/b/c/d/pkg.(*VeryLongTypeName).VeryLongMethodName", File: "/src/a_long_name_of_a_file.go", Line: 4711},
				{Function: "main.main", File: "/src/main.go", Line: 7},
			}}}
			return StackText(w, []stats.StackRow{{Calls: 1, Function: "main.f", Callers: callers}}, "", width, 0)
		},
		"histograms": func(w *bytes.Buffer, width int) error {
			return Histograms(w, append(ordinary()[:1], stats.Func{Name: "main.many", Latency: many}), RowOptions{Style: Style{Width: width}, Hist: true})
		},
	} {
		golden(t, "widths-"+name, func(all *bytes.Buffer) error {
			for _, width := range []int{60, 80, 120, 200} {
				var w bytes.Buffer
				if err := write(&w, width); err != nil {
					return err
				}
				for line := range strings.Lines(w.String()) {
					if n := printable.Columns(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%d columns, not %d: %q", n, width, line)
					}
				}
				fmt.Fprintf(all, "%d columns\n%s\n", width, w.String())
			}
			return nil
		})
	}
}
