package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelOptionsOfOthers: somebody has set the top level's options for a trace of their own,
// which new instances inherit, and which change lines, or add records. They stay as they are.
func TestKernelOptionsOfOthers(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "exact")
	script := scriptFor(t, target, "--wrappers", "main.*")
	for name, options := range map[string]map[string]string{
		"records":         {"stacktrace": "1", "markers": "0"},
		"columns":         {"context-info": "0", "irq-info": "0"},
		"numbers":         {"hex": "1"},
		"bytes":           {"raw": "1"},
		"other timestamp": {"latency-format": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for option, value := range options {
				file := filepath.Join(f.Dir(), "options", option)
				before := []byte(readFile(t, file))
				t.Cleanup(func() {
					if now, err := os.ReadFile(file); err != nil || string(now) != value+"\n" {
						t.Errorf("%s reads %q, %v", file, now, err)
					}
					if err := os.WriteFile(file, before, 0); err != nil {
						t.Error(err)
					}
				})
				noError(t, os.WriteFile(file, []byte(value), 0))
			}
			o, b, r := observeTarget(t, nil, "probe", target, []string{"main.*"})
			if same(t, o, b); r.code != 0 || o.summary.Unparsed != 0 {
				t.Errorf("status %d, %+v\n%s", r.code, o.summary, r.stderr)
			}
			if name != "records" {
				return
			}
			t.Setenv(readerVar, "raw")
			o, b, r = observeTarget(t, nil, "probe", target, []string{"main.*"})
			if same(t, o, b); r.code != 0 || o.summary.Unparsed != 0 {
				t.Errorf("raw: status %d, %+v\n%s", r.code, o.summary, r.stderr)
			}
			recording, out := record(t, scriptShells(t)[0], script, target)
			r = ftgo(t, "report", "-o", "json", recording)
			r.succeeded(t)
			same(t, readObserved(t, r.stdout), readBooks(t, out))
		})
	}
}
