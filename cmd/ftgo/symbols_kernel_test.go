package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var tookRE = regexp.MustCompile(`(?m)^ *[≈<]?[0-9.]+[nµm]?s  `)

// withoutTimes are the lines of calls without their latencies.
func withoutTimes(text string) string { return tookRE.ReplaceAllString(text, "") }

// TestKernelSymbols: a stripped program with the symbols of its twin is shown as the twin, live and recorded.
func TestKernelSymbols(t *testing.T) {
	tracetest.LongKernel(t)
	for _, mode := range []string{"exe", "pie"} {
		for _, version := range []string{"1.18.10", "1.20.14", fixture.Current} {
			t.Run(version+" "+mode, func(t *testing.T) {
				full := fixture.BuildWith(t, version, "lookup", "-buildmode="+mode)
				stripped := fixture.BuildWith(t, version, "lookup", "-buildmode="+mode, "-ldflags=-s -w")
				want := ftgo(t, "trace", "-q", full, "main.*", "--", full, "-n", "5")
				got := ftgo(t, "trace", "-q", "--symbols", full, stripped, "main.*", "--", stripped, "-n", "5")
				if got.code != 0 || withoutTimes(got.stdout) != withoutTimes(want.stdout) || !strings.Contains(got.stdout, `main.lookup(key="key-4", n=4) = ("value-4", true, nil)`) {
					t.Errorf("status %d\n%s%swant\n%s", got.code, got.stdout, got.stderr, want.stdout)
				}
				list := func(binary string, more ...string) string {
					return ftgo(t, append([]string{"list", "-o", "json", binary, "main.*"}, more...)...).stdout
				}
				sources := strings.NewReplacer(`"source":"debug information"`, `"source":"twin"`)
				if got, want := list(stripped, "--symbols", full), sources.Replace(list(full)); got != want || want == "" {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		}
	}
}

// TestKernelSymbolsRecorded: a recording says which file its values are read by.
func TestKernelSymbolsRecorded(t *testing.T) {
	tracetest.LongKernel(t)
	dir := t.TempDir()
	full, stripped := filepath.Join(dir, "full"), fixture.Build(t, "lookup", "-ldflags=-s -w")
	copyFile(t, fixture.Build(t, "lookup"), full)
	script := scriptFor(t, "--as", "trace", "--symbols", full, stripped, "main.lookup")
	file, _ := record(t, scriptShells(t)[0], script, stripped, "-n", "2")
	const want = `main.lookup(key="key-1", n=1) = ("value-1", true, nil)`
	if r := ftgo(t, "report", file); r.code != 0 || !strings.Contains(r.stdout, want) {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	moved := filepath.Join(dir, "moved")
	noError(t, os.Rename(full, moved))
	if r := ftgo(t, "report", file); r.code != 0 || strings.Contains(r.stdout, want) || !strings.Contains(r.stderr, "values are not shown: they take what describes the binary, "+full+", which is not here as it was (--symbols PATH)") {
		t.Errorf("without what describes it: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := ftgo(t, "report", "--symbols", moved, file); r.code != 0 || !strings.Contains(r.stdout, want) {
		t.Errorf("moved: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestKernelSymbolsRunning: of a process that runs already.
func TestKernelSymbolsRunning(t *testing.T) {
	tracetest.LongKernel(t)
	full, stripped := fixture.Build(t, "server"), fixture.Build(t, "server", "-ldflags=-s -w")
	target := server(t, stripped)
	pid := strconv.Itoa(target.Process.Pid)
	r := ftgo(t, "trace", "-q", "-n", "1", "--symbols", full, "-p", pid, "main.tick")
	if r.code != 0 || !regexp.MustCompile(`main\.tick\(n=[0-9]+\) = [0-9]+\n$`).MatchString(r.stdout) {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
