package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelAllocations: what the README says of who allocates has each object of a function once, with the bytes
// that were asked for, as the program's own runtime counts objects; also where all go the slow way.
func TestKernelAllocations(t *testing.T) {
	tracetest.Kernel(t)
	for _, version := range []string{fixture.Current, "1.24.6", "1.26.8", "1.27.4"} {
		for _, debug := range []string{"", "inittrace=1"} {
			t.Run(version+" "+debug, func(t *testing.T) {
				target := fixture.BuildWith(t, version, "allocs")
				t.Setenv("GODEBUG", debug)
				r := ran(t, "probe", "-o", "json", "--sum", "size", "--stack", "-x", "*SlowPath", target, "runtime.mallocgc?*", "--", target)
				calls, bytes := 0, 0
				for _, s := range decoded[struct {
					Type  string
					Calls int
					Stack []stackFrame
					SumOf any `json:"sum_of"`
				}](t, r.stdout) {
					if s.Type == "stack" && slices.ContainsFunc(s.Stack, func(f stackFrame) bool { return f.Function == "main.work" }) {
						sum, _ := s.SumOf.(float64)
						calls, bytes = calls+s.Calls, bytes+int(sum)
					}
				}
				if counted := fmt.Sprintln(calls, bytes); !strings.Contains("\n"+r.stderr, "\n"+counted) {
					t.Errorf("%s of main.work, the program says\n%s", counted, r.stderr)
				}
			})
		}
	}
}
