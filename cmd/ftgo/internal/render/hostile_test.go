package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// hostileStack returns a stack with a hostile name, file and inlined function.
func hostileStack(s string) []stats.StackRow {
	at := stats.Location{Addr: 0x1000, Frames: []offsets.Frame{{Function: s, File: s, Line: 1}}}
	callers := []stats.Location{
		{Addr: 0x2000, Frames: []offsets.Frame{{Function: "main." + s, File: "/src/" + s + ".go", Line: 2}, {Function: s, File: s + "/x.go", Line: 3}}},
		{Addr: 0x3000, Frames: []offsets.Frame{{Function: "main.main", File: "/src/main.go", Line: 4}}},
	}
	return []stats.StackRow{{Calls: 7, Completed: 7, Min: 1, Max: 1, Sum: 7, Self: 7, Function: s, At: at, Callers: callers}}
}

// hostileEvent returns a kernel event of a process with a hostile name.
func hostileEvent(s string) *Line {
	return &Line{Time: callStart, Event: "sched:sched_switch", GoidKnown: true, Function: s, Thread: Thread{Goid: 7, PID: 3, TID: 4},
		Fields: []parse.Field{{Name: "prev_comm", Text: []byte(s)}, {Name: "prev_pid", Num: 5}}}
}

// written returns the output of write. It checks the number of lines, and that they are printable.
func written(t *testing.T, want int, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	fixture.NoError(t, write(&b))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != want {
		t.Errorf("%d lines, want %d: %.300q", len(lines), want, b.String())
	}
	for _, line := range lines {
		checkPrintable(t, strings.ReplaceAll(line, "\t", "")) // between cells of TSV
	}
	return b.String()
}

func validJSON(t *testing.T, text string) {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Errorf("no JSON: %.300s", text)
	}
}

// TestHostileRows checks that names cannot control a terminal, and that a newline in a name does not start a row. It also
// checks the error of a broken writer.
func TestHostileRows(t *testing.T) {
	var rows []stats.Func
	var list []target.Listed
	var skipped []stats.Skipped
	for _, s := range hostileValues {
		rows = append(rows, stats.Func{Name: s, Calls: 3, Completed: 2, Lost: 1, Note: s, Latency: histogram(812, 4350)})
		list = append(list, target.Listed{Func: offsets.Func{Name: s}, Signature: s, Source: s, Note: s})
		skipped = append(skipped, stats.Skipped{Function: s, Reason: s})
	}
	check := func(want int, json bool, write func(io.Writer) error) {
		t.Helper()
		for line := range strings.Lines(written(t, want, write)) {
			if json {
				validJSON(t, line)
			}
		}
		if err := write(brokenWriter{}); !errors.Is(err, errBroken) {
			t.Errorf("error of a broken writer = %v", err)
		}
	}
	for _, f := range []Format{Table, JSON, CSV, TSV} {
		n := len(hostileValues)
		if f != JSON {
			n++
		}
		check(n, f == JSON, func(w io.Writer) error {
			return Functions(w, rows, RowOptions{Style: Style{Format: f, Width: 80}, Latency: true})
		})
		check(n, f == JSON, func(w io.Writer) error { return List(w, list, Style{Format: f, Width: 80}) })
	}
	check(1, true, func(w io.Writer) error { return SummaryJSON(w, stats.Summary{Skipped: skipped}, nil) })
	for i := range rows { // a blank line, the name, the head and four ranges; the hits, and two lines of limits
		check(7, false, func(w io.Writer) error { return Histograms(w, rows[i:i+1], RowOptions{Hist: true}) })
		check(3, false, func(w io.Writer) error {
			return Footer(w, rows[i:i+1], stats.Summary{Hits: 1, LatencyMeasured: true, Clock: hostileValues[i], Skipped: skipped[i : i+1]})
		})
	}
}

// TestHostileStacks checks that names of functions and files cannot forge frames, lines or counts.
func TestHostileStacks(t *testing.T) {
	folded := regexp.MustCompile(`^main\.main;[^;]*;main\.[^;]*;[^;]* 7\n$`)
	for _, s := range hostileValues {
		stacks := hostileStack(s)
		// A blank line, the function, the calls, three callers.
		written(t, 6, func(w io.Writer) error { return StackText(w, stacks, "", 40, 0) })
		validJSON(t, written(t, 1, func(w io.Writer) error { return StackJSON(w, stacks, "") }))
		if text := written(t, 1, func(w io.Writer) error { return FoldedStacks(w, stacks, "") }); !folded.MatchString(text) {
			t.Errorf("folded %.300q", text)
		}
		var b bytes.Buffer
		fixture.NoError(t, PprofStacks(&b, stacks, Profiled{Path: "/bin/server", Began: callStart, Duration: time.Second}))
		p, err := profile.Parse(&b)
		fixture.NoError(t, err)
		if len(p.Sample) != 1 || p.Sample[0].Value[0] != 7 || len(p.Sample[0].Location) != 3 {
			t.Errorf("profile of %.100q: %v", s, p.Sample)
		}
		for _, f := range p.Function {
			checkPrintable(t, f.Name)
			checkPrintable(t, f.Filename)
		}
	}
}

// TestHostileEvents checks that names of processes cannot forge fields, lines or events.
func TestHostileEvents(t *testing.T) {
	for _, s := range hostileValues {
		e := hostileEvent(s)
		text := written(t, 1, func(w io.Writer) error { return NewCallWriter(w, LineOptions{}).Line(e) })
		if !strings.HasSuffix(text, `" prev_pid=5`+"\n") {
			t.Errorf("event %.300q", text)
		}
		text = written(t, 1, func(w io.Writer) error { return NewCallWriter(w, LineOptions{Style: Style{Format: JSON}}).Line(e) })
		var back struct {
			PID    int `json:"pid"`
			Fields map[string]any
		}
		if err := json.Unmarshal([]byte(text), &back); err != nil || back.PID != 3 || len(back.Fields) != 2 || back.Fields["prev_pid"] != 5.0 {
			t.Errorf("%.300s: %v, %+v", text, err, back)
		}
		call := around(s)
		call.Function, call.Stack = s, hostileStack(s)[0].Callers
		e.Level = 1
		lines := []*Line{&call, e, {Function: s, Time: callStart, Level: 1}, {Branch: true, GoesOn: true, Level: 1}}
		tree := &Tree{First: &call, Root: &call, Origin: &Line{Function: s}, Lines: lines}
		written(t, 1+3+4, func(w io.Writer) error {
			return NewCallWriter(w, LineOptions{}).Tree(tree)
		})
		ended := *tree
		ended.Lines = lines[:2]
		for line := range strings.Lines(written(t, 3, func(w io.Writer) error { return NewCallWriter(w, LineOptions{Style: Style{Format: JSON}}).Tree(&ended) })) {
			validJSON(t, line)
		}
	}
}

// TestHostileVariables checks that neither the name nor the value of a variable can become a formula or a second cell.
func TestHostileVariables(t *testing.T) {
	for _, s := range hostileValues {
		v := &VariableLine{Time: callStart, PID: 3, Name: s, Value: madeup.Str(s)}
		written(t, 1, func(w io.Writer) error { return Variable(w, Table, true, v) })
		validJSON(t, written(t, 1, func(w io.Writer) error { return Variable(w, JSON, true, v) }))
		cells, err := csv.NewReader(strings.NewReader(written(t, 1, func(w io.Writer) error { return Variable(w, CSV, true, v) }))).ReadAll()
		fixture.NoError(t, err)
		text := written(t, 1, func(w io.Writer) error { return Variable(w, TSV, true, v) })
		if tabs := strings.Split(strings.TrimSuffix(text, "\n"), "\t"); len(cells) != 1 || !slices.Equal(cells[0], tabs) || len(tabs) != 4 {
			t.Fatalf("CSV %.300q, TSV %.300q", cells, tabs)
		}
		for _, cell := range cells[0] {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("cell %.100q", cell)
			}
		}
	}
}
