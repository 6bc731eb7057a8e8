package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelDisguises: a program that renames its thread to, and passes strings that, look like
// lines of a trace changes neither counts nor arguments, with both readers.
func TestKernelDisguises(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "disguise")
	const rounds = 7
	for _, reader := range []string{"pipe", "raw"} {
		t.Setenv(readerVar, reader)
		trace := func(format string) (lines []string, texts [][]byte) {
			data := filepath.Join(t.TempDir(), "data")
			r := ran(t, "trace", "-o", format, "-w", data, target, "main.take(n, s)", "--", target, "-n", fmt.Sprint(rounds))
			noError(t, json.Unmarshal([]byte(r.stdout), &texts))
			b := readFile(t, data)
			return strings.Split(strings.TrimSuffix(b, "\n"), "\n"), texts
		}
		lines, texts := trace("table")
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "main.take(") })
		if want := rounds * len(texts); len(lines) != want || len(texts) < 40 {
			t.Errorf("%s: %d lines, want %d", reader, len(lines), want)
		}
		for i, line := range lines {
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || !strings.Contains(line, fmt.Sprintf("main.take(n=%d, s=\"", i)) {
				t.Fatalf("%s: line %d is %q", reader, i, line)
			}
		}
		lines, texts = trace("json")
		calls := jsonLines(t, strings.Join(lines, "\n"), "call")
		for i, c := range calls {
			args := c["args"].(map[string]any)
			// What is no UTF-8 is said to be something else than a string.
			if s, is := args["s"].(string); args["n"] != float64(i) || is && s != string(texts[i%len(texts)]) {
				t.Errorf("%s: call %d is %v, want %q", reader, i, args, texts[i%len(texts)])
			}
		}
		s := jsonLines(t, lines[len(lines)-1], "summary")[0]
		if len(calls) != rounds*len(texts) || s["lost"] != 0.0 || s["unparsed"] != 0.0 || s["delivered"] != s["hits"] {
			t.Errorf("%s: %d calls, %v", reader, len(calls), s)
		}
	}
}
