package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelDisguises: a program that renames its thread to, and passes strings that, look like
// lines of a trace changes neither counts nor arguments, with both readers.
func TestKernelDisguises(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	target := fixture.Build(t, "disguise")
	const rounds = 7
	for _, reader := range []string{"pipe", "raw"} {
		t.Setenv(readerVar, reader)
		for _, format := range []string{"table", "json", "csv"} {
			data := filepath.Join(t.TempDir(), "data")
			r := ftgo(t, "trace", "-o", format, "-w", data, target, "main.take(n, s)", "--", target, "-n", fmt.Sprint(rounds))
			var texts [][]byte
			if err := json.Unmarshal([]byte(r.stdout), &texts); r.code != 0 || err != nil || len(texts) < 40 {
				t.Fatalf("status %d, %v, %d strings\n%s", r.code, err, len(texts), r.stderr)
			}
			b, err := os.ReadFile(data)
			noError(t, err)
			lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
			want := rounds * len(texts)
			switch format {
			case "table":
				lines = takeLines(lines)
				for i, line := range lines {
					if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || !strings.Contains(line, fmt.Sprintf("main.take(n=%d, s=\"", i)) {
						t.Fatalf("%s: line %d is %q", reader, i, line)
					}
				}
			case "json":
				lines = lines[:len(lines)-1] // the summary
				for i, line := range lines {
					var c struct {
						Type string
						Args struct {
							N int             `json:"n"`
							S json.RawMessage `json:"s"`
						}
					}
					if err := json.Unmarshal([]byte(line), &c); err != nil || c.Type != "call" || c.Args.N != i {
						t.Fatalf("%s: call %d is %s: %v", reader, i, line, err)
					}
					// What is no UTF-8 is said to be something else than a string.
					var s string
					if json.Unmarshal(c.Args.S, &s) == nil && s != string(texts[i%len(texts)]) {
						t.Errorf("%s: call %d has %q, want %q", reader, i, s, texts[i%len(texts)])
					}
				}
			case "csv":
				records, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
				if err != nil {
					t.Fatalf("%s: %v", reader, err)
				}
				lines = lines[1:]
				if len(records) != 1+want {
					t.Errorf("%s: %d records", reader, len(records))
				}
			}
			if len(lines) != want {
				t.Errorf("%s, %s: %d calls, want %d", reader, format, len(lines), want)
			}
		}
		o, _, r := observeDisguised(t, reader, target, rounds)
		if s := o.summary; r.code != 0 || s.Lost != 0 || s.Unparsed != 0 || s.Delivered != s.Hits {
			t.Errorf("%s: status %d, %+v", reader, r.code, s)
		}
	}
}

// TestKernelBrokenName: of a thread's name with a newline the kernel makes two lines, both of
// which are understood.
func TestKernelBrokenName(t *testing.T) {
	tracetest.Kernel(t)
	target := filepath.Join(t.TempDir(), "a\nb")
	copyFile(t, fixture.Build(t, "family"), target)
	r := ftgo(t, "probe", "-o", "json", target, "main.work", "--", target, "work=7")
	workCalls(t, r, 7)
	if s := readObserved(t, r.stdout).summary; s.Unparsed != 0 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// takeLines are the lines of calls.
func takeLines(lines []string) (calls []string) {
	for _, line := range lines {
		if strings.Contains(line, "main.take(") {
			calls = append(calls, line)
		}
	}
	return calls
}

func observeDisguised(t *testing.T, reader, target string, rounds int) (observed, [][]byte, result) {
	t.Helper()
	t.Setenv(readerVar, reader)
	data := filepath.Join(t.TempDir(), "data")
	r := ftgo(t, "probe", "-o", "json", "-w", data, target, "main.take", "--", target, "-n", fmt.Sprint(rounds))
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.stderr)
	}
	var texts [][]byte
	noError(t, json.Unmarshal([]byte(r.stdout), &texts))
	o := readObserved(t, string(b))
	if got, want := o.functions["main.take"].Completed, uint64(rounds*len(texts)); got != want {
		t.Errorf("%s: %d calls, want %d", reader, got, want)
	}
	return o, texts, r
}
