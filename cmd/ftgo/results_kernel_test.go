package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelReportAddsUp: what several runs have written adds up to what the program says of all of them, and
// a function that is called as often in as many runs has not changed.
func TestKernelReportAddsUp(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "exact")
	for _, command := range []string{"probe", "count"} {
		t.Run(command, func(t *testing.T) {
			dir := t.TempDir()
			var names []string
			all := books{Functions: make(map[string]bookedFunction)}
			for _, rounds := range []string{"2", "3", "5"} {
				data := filepath.Join(dir, rounds)
				r := ran(t, command, "--wrappers", "-o", "json", "-w", data, target, "main.*", "--", target, rounds)
				names = append(names, data)
				for name, f := range readBooks(t, r.stdout).Functions {
					sum := all.Functions[name]
					all.Functions[name] = bookedFunction{sum.Calls + f.Calls, sum.Completed + f.Completed, sum.Unwound + f.Unwound, sum.Open + f.Open}
				}
			}
			r := ran(t, append([]string{"report", "-o", "json"}, names...)...)
			o := readObserved(t, r.stdout)
			if command == "count" {
				sameCalls(t, o, all)
			} else {
				same(t, o, all)
			}
			text := readFile(t, names[0])
			host, _ := os.Hostname()
			if !strings.Contains(text, `"host":"`+host+`"`) {
				t.Errorf("no host %s in %s", host, text[max(len(text)-600, 0):])
			}
			if d := ftgo(t, "diff", "-o", "json", "--fail", "--compare", "errors", names[0], names[1]); d.code != 0 {
				t.Errorf("diff: status %d\n%s", d.code, d.stderr)
			}
		})
	}
}
