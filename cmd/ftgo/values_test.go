package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// gap is a value that ftgo may know less of than the program does, and why.
type gap struct {
	from, to int // minor versions of Go, both included; 0 is any
	flags    string
	goarch   string // "" is any
	// function and path are those of a finding; a star at the end is any end.
	function, path string
	reason         string
}

const (
	floatRegister = "uprobes do not fetch floating-point registers"
	typeOnly      = "of interfaces with methods, but for error, the type alone is shown"
	noResults     = "optimized code of Go 1.17 lacks results in its debug information"
	blanks        = "blank parameters are in the debug information since Go 1.22, and shift what follows"
	shapes        = "generic code has one shape for all pointers: what is behind one is not shown"
	captured      = "where captured variables are is in the debug information since Go 1.23"
)

// firstRegisters is the first minor version of Go that passes arguments in registers here.
var firstRegisters = arch.Here().Machine().FirstRegisters

// valueGaps are all there may be. One that is no longer needed fails the test.
var valueGaps = []gap{
	{from: firstRegisters, function: "main.floats", path: "*", reason: floatRegister},
	{from: firstRegisters, function: "main.complexes", path: "*", reason: floatRegister},
	{from: firstRegisters, function: "main.measured", path: "args.m.*", reason: floatRegister},
	{from: firstRegisters, function: "main.measured", path: "results.*", reason: floatRegister},
	{from: firstRegisters, function: "main.manyFloats", path: "*", reason: floatRegister},
	{function: "main.within", path: "args.ctx.value*", reason: typeOnly},
	{function: "main.within", path: "results.r0.value*", reason: typeOnly},
	{function: "main.named", path: "args.s.value*", reason: typeOnly},
	{function: "main.named", path: "results.r0.value*", reason: typeOnly},
	{from: 17, to: 17, goarch: "amd64", function: "*", path: "results.*", reason: noResults},
	{to: 21, function: "main.blank", path: "args.*", reason: blanks},
	{from: 18, function: "main.keep[*uint8]", path: "*", reason: shapes},
	{from: 18, function: "main.deepest[*uint8]", path: "*", reason: shapes},
	{from: 18, function: "main.box[*uint8].get", path: "*", reason: shapes},
	{from: 18, function: "main.(*box[*uint8]).put", path: "*", reason: shapes},
	{to: 22, function: "main.adder.func1", path: "args.*", reason: captured},
}

func (g *gap) covers(minor int, flags, function, path string) bool {
	return (g.from == 0 || g.from <= minor) && (g.to == 0 || minor <= g.to) &&
		(g.goarch == "" || g.goarch == runtime.GOARCH) && (g.flags == "" || g.flags == flags) && ends(g.function, function) && ends(g.path, path)
}

// ends matches a text, or with a star at the end its beginning.
func ends(pattern, text string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(text, start)
	}
	return pattern == text
}

// TestKernelValues traces a program that logs what its functions take and give, built by
// Go with either way of passing arguments, with and without optimisation.
func TestKernelValues(t *testing.T) {
	tracetest.LongKernel(t)
	needed := make([]bool, len(valueGaps))
	complete := true
	versions := []string{"1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.21.13", "1.24.6", "1.26.8", "1.27.4", fixture.Current}
	if os.Getenv(readerVar) == "raw" {
		// The reader makes no difference to versions: one of each way of passing arguments.
		versions, complete = []string{"1.16.15", fixture.Current}, false
	}
	for _, version := range versions {
		for _, flags := range []string{"", "-N -l"} {
			name := version + "/default"
			if flags != "" {
				name = version + "/" + flags
			}
			ran := false
			t.Run(name, func(t *testing.T) {
				target := fixture.BuildWith(t, version, "values", "-gcflags", flags)
				got, want := traceValues(t, target)
				checkValues(t, minorOf(t, target), flags, got, want, needed)
				ran = true
			})
			complete = complete && ran
		}
	}
	for i, g := range valueGaps {
		if complete && !t.Failed() && !needed[i] && (g.goarch == "" || g.goarch == runtime.GOARCH) {
			t.Errorf("%s %s needs no exception any more (%q)", g.function, g.path, g.reason)
		}
	}
}

// TestKernelLongStrings fetches more of strings and slices than by default.
func TestKernelLongStrings(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "values", "-gcflags", "")
	got, want := traceValues(t, target, "--strlen", "200", "--items", "3")
	texts := []string{"main.text", "main.raw", "main.ints", "main.nine"}
	for name := range want {
		if !slices.Contains(texts, name) {
			delete(want, name)
		}
	}
	checkValues(t, minorOf(t, target), "", got, want, make([]bool, len(valueGaps)))
}

// minorOf is 26 for a program that Go 1.26 built.
func minorOf(t *testing.T, target string) int {
	t.Helper()
	b, err := offsets.Open(target)
	noError(t, err)
	defer b.Close()
	minor, _ := b.GoVersion()
	return minor
}

// traceValues runs a target under ftgo trace, and returns the calls as both tell of them.
// limits are the flags --strlen and --items with their values.
func traceValues(t *testing.T, target string, limits ...string) (got, want map[string][]loggedCall) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	args := append([]string{"trace", "-o", "json", "-w", data}, limits...)
	// Not what makes the log: it would be traced hundreds of times a call.
	for _, machinery := range []string{"main.(*recorder).*", "main.(*random).*", "main.main", "main.init*"} {
		args = append(args, "-x", machinery)
	}
	args = append(args, target, "main.*", "--", target)
	for _, a := range limits {
		args = append(args, strings.Replace(a, "--", "-", 1))
	}
	var out, errs written
	code := runCommand(t.Context(), newEnv(&out, &errs), args)
	text, err := os.ReadFile(data)
	if code != 0 || err != nil {
		t.Fatalf("ftgo %s: status %d, %v\n%s", strings.Join(args, " "), code, err, &errs)
	}
	checkSummary(t, string(text))
	traced, err := readCalls(string(text))
	noError(t, err)
	logged, err := readCalls(out.String())
	noError(t, err)
	got, want = byFunction(traced), byFunction(logged)
	if len(want) < 40 {
		t.Fatalf("the target's log has only %d functions\n%s", len(want), &errs)
	}
	return got, want
}

// checkSummary wants the last line to say that nothing was lost.
func checkSummary(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var s summaryLine
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || s.Type != "summary" {
		t.Fatalf("no summary at the end, but %q (%v)", lines[len(lines)-1], err)
	}
	if s.Lost != 0 || s.Unparsed != 0 || s.Hits != s.Delivered {
		t.Errorf("lost %d, not understood %d, hits %d, delivered %d", s.Lost, s.Unparsed, s.Hits, s.Delivered)
	}
	for _, f := range s.Skipped {
		t.Errorf("%s was not probed: %s", f.Function, f.Reason)
	}
}

// checkValues compares what ftgo and the target tell of all functions. needed[i] is set
// if valueGaps[i] was.
func checkValues(t *testing.T, minor int, flags string, got, want map[string][]loggedCall, needed []bool) {
	t.Helper()
	for name, calls := range want {
		c := compareCalls(got[name], calls)
		bad := c.wrong
		for _, f := range c.less {
			i := slices.IndexFunc(valueGaps, func(g gap) bool { return g.covers(minor, flags, name, f.path) })
			if i < 0 {
				bad = append(bad, f)
				continue
			}
			needed[i] = true
		}
		if len(bad) > 0 {
			t.Error(explain(name, bad))
		}
	}
}

// explain tells the first findings of a function.
func explain(name string, bad []finding) string {
	text := fmt.Sprintf("%s: %d values differ", name, len(bad))
	for _, f := range bad[:min(len(bad), 5)] {
		text += fmt.Sprintf("\n  %v", f)
	}
	return text
}
