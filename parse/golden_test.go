package parse

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const traceDir = "../testdata/trace"

// traceFormats are the events that occur in the traces of traceDir.
var traceFormats = []Format{
	{Event: "ftgo_entry_0_5f3a9c1d", Args: []string{"g", "id", "n", "sp", "w"}, Len: []int{0, 0, 0, 0, 2}},
	{Event: "ftgo_entry_1_5f3a9c1d", Args: []string{"g", "id", "hi", "sp"}},
	{Event: "ftgo_return_1_5f3a9c1d", Args: []string{"g", "hi", "sp"}},
	{Event: "ftgo_entry_2_5f3a9c1d", Args: []string{"g", "sp"}},
	{Event: "ftgo_entry_3_5f3a9c1d"},
}

func newTraceParser(tb testing.TB) *formats {
	tb.Helper()
	p, err := newFormats(traceFormats, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// readTrace is what the package makes of a whole trace, a line for a record.
func readTrace(p *formats, text []byte) string {
	var (
		out strings.Builder
		ev  Event
	)
	for line := range bytes.Lines(text) {
		if whole, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			kind := p.parse(whole, &ev)
			fmt.Fprintln(&out, describe(kind, &ev))
		} else {
			fmt.Fprintf(&out, "rest %q\n", line)
		}
	}
	return out.String()
}

func describe(kind lineKind, ev *Event) string {
	if kind != eventLine {
		return map[lineKind]string{unreadable: "unreadable", otherLine: "other"}[kind]
	}
	var s strings.Builder
	s.WriteString(fmt.Sprintf("event %s time=%d cpu=%d tid=%d pid=%d addr=%#x", traceFormats[ev.Format].Event, ev.Time, ev.CPU, ev.TID, ev.PID, ev.Addr))
	for _, v := range ev.Args {
		s.WriteString(fmt.Sprintf(" %d", int64(v)))
	}
	return s.String()
}

func TestTraces(t *testing.T) {
	p := newTraceParser(t)
	traces := traceFiles(t, "*.trace")
	if len(traces) == 0 {
		t.Fatalf("no traces in %s", traceDir)
	}
	for _, path := range traces {
		stem := strings.TrimSuffix(path, ".trace")
		t.Run(filepath.Base(stem), func(t *testing.T) {
			got := readTrace(p, readFile(t, path))
			golden := stem + ".records"
			if os.Getenv("FTGO_UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := string(readFile(t, golden))
			if got != want {
				t.Errorf("%s:\n got:\n%s\nwant:\n%s", golden, got, want)
			}
		})
	}
}

func traceFiles(tb testing.TB, pattern string) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(traceDir, pattern))
	if err != nil {
		tb.Fatal(err)
	}
	return paths
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// traceLines are the lines of all traces: seeds for fuzzing.
func traceLines(tb testing.TB) [][]byte {
	tb.Helper()
	var lines [][]byte
	for _, path := range traceFiles(tb, "*.trace") {
		lines = append(lines, bytes.Split(readFile(tb, path), []byte("\n"))...)
	}
	return lines
}
