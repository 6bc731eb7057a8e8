package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/testdata/fixture"
)

var conditionRE = regexp.MustCompile(`^([^=<>!~]+)(=|!=|<=|>=|<|>|~)(.*)$`)

// allHold tells whether all conditions hold for a line.
func allHold(ts *testscript.TestScript, line map[string]any, conditions []string) bool {
	for _, c := range conditions {
		m := conditionRE.FindStringSubmatch(c)
		if m == nil {
			ts.Fatalf("no condition: %q", c)
		}
		got, want := valueAt(line, m[1]), m[3]
		if key, ok := strings.CutPrefix(want, "@"); ok {
			want = valueAt(line, key)
		}
		g, gerr := strconv.ParseFloat(got, 64)
		w, werr := strconv.ParseFloat(want, 64)
		numbers := gerr == nil && werr == nil
		holds := map[string]bool{
			"=": got == want, "!=": got != want, "<": numbers && g < w, ">": numbers && g > w, "<=": numbers && g <= w, ">=": numbers && g >= w,
		}[m[2]]
		if m[2] == "~" {
			holds = regexp.MustCompile(want).MatchString(got)
		}
		if !holds {
			return false
		}
	}
	return true
}

// balanced: what a line divides adds up.
func balanced(ts *testscript.TestScript, line map[string]any) {
	if hits, has := line["hits"]; has && float64(number(line["delivered"])+number(line["lost"])+number(line["filtered"])) != hits {
		ts.Fatalf("unbalanced: %v", line)
	}
	parts, has := line["sched"].(map[string]any)
	if running, runnable := number(parts["running"]), number(parts["runnable"]); has && line["type"] == "call" && running+runnable+number(parts["waiting"]) != number(line["ns"]) {
		ts.Fatalf("unbalanced: %v", line)
	}
}

// valueAt is the text of a value in an object, or in objects in it: "" if there is none.
func valueAt(object map[string]any, path string) string {
	var value any = object
	for key := range strings.SplitSeq(path, ".") {
		o, _ := value.(map[string]any)
		value = o[key]
	}
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, _ := json.Marshal(value) // which was read from JSON
	return string(b)
}

// callsSeen are the calls in JSON output, whose books must balance with nothing lost.
func callsSeen(t *testing.T, text string) map[string]uint64 {
	t.Helper()
	calls := make(map[string]uint64)
	for _, call := range jsonLines(t, text, "call") {
		if call["end"] == "return" {
			calls[call["function"].(string)]++
		}
	}
	for _, f := range jsonLines(t, text, "function") {
		name := f["function"].(string)
		if n := number(f["unwound"]) + number(f["open"]) + number(f["lost"]); n > 0 {
			t.Errorf("%s: %d of %v calls not completed", name, n, f["calls"])
		}
		calls[name] = number(f["calls"])
	}
	for _, s := range jsonLines(t, text, "summary") {
		if number(s["delivered"]) != number(s["hits"]) || s["lost"] != 0.0 || number(s["unparsed"]) != 0 {
			t.Errorf("books %v", s)
		}
	}
	return calls
}

// moved is a stripped program of a Go that does not exist yet, which has a field of runtime.moduledata more.
func moved(t *testing.T, name string) string {
	t.Helper()
	path := fixture.BuildWith(t, fixture.Current, name, "-ldflags=-s -w")
	data := []byte(readFile(t, path))
	f, err := elf.Open(path)
	noError(t, err)
	defer f.Close()
	const types = 37 // words before runtime.types, since Go 1.26
	module := data[f.Section(".go.module").Offset:][8*types:][:8*10]
	copy(module[8:], module[:8*9])
	info, err := buildinfo.ReadFile(path) // where Go is not installed, nothing else knows what Current stands for
	noError(t, err)
	release := info.GoVersion
	data = bytes.ReplaceAll(data, []byte(release), []byte("go1.28."+strings.Repeat("0", len(release)-len("go1.28."))))
	to := filepath.Join(t.TempDir(), name)
	noError(t, os.WriteFile(to, data, 0o755))
	return to
}
