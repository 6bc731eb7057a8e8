package main

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelStrippedRecorded: of a stripped program a recording shows what a live run shows: words, receivers of generic
// methods, methods by their run-time types, and all by a twin.
func TestKernelStrippedRecorded(t *testing.T) {
	f := tracetest.LongKernel(t)
	tracetest.Needs(t, f.Features().Arrays, "arrays")
	for _, mode := range []string{"exe", "pie"} {
		full := fixture.Build(t, "generic", "-buildmode="+mode)
		stripped := fixture.Build(t, "generic", "-buildmode="+mode, "-ldflags=-s -w")
		for _, c := range []struct {
			name  string
			flags []string
			want  string
		}{
			{"alone", nil, `main.(*user).String(p0=&{Name:"eve" Age:1}) = "eve"`},
			{"by its twin", []string{"--symbols", full}, `main.(*user).String(u=&{Name:"eve" Age:1}) = "eve"`},
		} {
			t.Run(mode+" "+c.name, func(t *testing.T) {
				funcs := []string{stripped, "main.pile.*", "main.keyed.put", "main.user.String"}
				args := append(append([]string{"trace", "-q", "--full"}, c.flags...), funcs...)
				live := ftgo(t, append(args, "--", stripped)...)
				want := genericLines(live.stdout)
				if live.code != 0 || !strings.Contains(want, c.want+"\n") || strings.Count(want, "\n") != 8 {
					t.Fatalf("live: status %d\n%s%s", live.code, want, live.stderr)
				}
				script := scriptFor(t, append(append([]string{"--as", "trace"}, c.flags...), funcs...)...)
				file, _ := record(t, scriptShells(t)[0], script, stripped)
				r := ftgo(t, "report", "-q", "--full", file)
				if got := genericLines(r.stdout); r.code != 0 || got != want {
					t.Errorf("status %d\ngot\n%s%swant\n%s", r.code, got, r.stderr, want)
				}
			})
		}
	}
}
