package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// asked is what testdata/asked gives a function in call n, part by part.
var asked = map[string]struct {
	parts string
	want  func(n int) []any
}{
	"main.held": {"n,x.(*main.box).status,x.(*box).label,any.(tag),any.(*box).pad[1]", func(n int) []any {
		if n%2 == 1 {
			return []any{n, "<unreadable: it is main.tag>", "<unreadable: it is main.tag>", "<unreadable: it is *main.box>", 0}
		}
		return []any{n, n, fmt.Sprintf(`"box %d"`, n), fmt.Sprintf(`"tag %d"`, n), "<unreadable: it is main.tag>"}
	}},
	"main.found": {`n,numbers["k3"],texts["k2"],texts["k2"][0],boxes[-4].status,large["k1"][0],len(texts["k0"])`, func(n int) []any {
		row := []any{n, 3, `["v2"]`, `"v2"`, 4, 1, 1}
		for i, least := range []int{0, 4, 3, 3, 5, 2, 1} {
			if n < least {
				row[i] = "<unreadable: no such key>"
			}
		}
		return row
	}},
	"main.changed": {"n,s,l", func(n int) []any {
		return []any{n, [...]any{"main.idle", "main.busy", "main.done", 3, 4}[n%5], [...]any{"main.highest", 254}[n%2]}
	}},
	"main.fourth": {"n,+56(+16(goarg4)):string,+72(+16(goarg4)):[]int32,d.to.text,*+16(goarg4):*int", func(n int) []any {
		text := fmt.Sprintf(`"text %d"`, n)
		if n == 3 {
			text = "<unreadable: nil pointer>"
			return []any{n, text, text, text, text}
		}
		return []any{n, text, fmt.Sprintf("[%d %d]", n, -n), text, 0}
	}},
}

// TestKernelAsked: what is asked for by type assertions, keys of maps, offsets and names of constants is
// what the program has, in the ways of each version of Go.
func TestKernelAsked(t *testing.T) {
	fixture.NeedLong(t)
	arrays := tracetest.Kernel(t).Features().Arrays
	for _, version := range []string{fixture.Current, "1.16.15", "1.20.14", "1.24.6"} {
		t.Run(version, func(t *testing.T) {
			target := fixture.BuildWith(t, version, "asked")
			for function, of := range asked {
				verbs := strings.TrimSuffix(strings.Repeat("%v|", strings.Count(of.parts, ",")+1), "|")
				m := family(t, target, "wait")
				p := tracer(t, "trace", "-n", "20", "--format", verbs, of.parts, "-p", m.pid(), function)
				_, err := io.WriteString(m.in, "\n")
				noError(t, err)
				r := p.result(t)
				m.goOn(t)
				lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
				if r.code != 0 || len(lines) != 20 {
					t.Fatalf("status %d, %d calls\n%s", r.code, len(lines), r.stderr)
				}
				for n, line := range lines {
					compareAsked(t, function, of.parts, n, strings.Split(line, "|"), of.want(n), arrays)
				}
			}
		})
	}
}

func compareAsked(t *testing.T, function, parts string, n int, values []string, want []any, arrays bool) {
	t.Helper()
	for i, part := range strings.Split(parts, ",") {
		got := values[i]
		// Kernels without arrays have no room for all slots of all these maps.
		if function == "main.found" && !arrays && i > 0 && (strings.HasPrefix(got, "<no room: ") || strings.Contains(got, "…+")) {
			continue
		}
		// Of larger maps, not all that they have is looked at.
		if function == "main.found" && n > 8 && (got == "<not searched: a map made for more than 8 elements>" || got == "<not among the first 8 elements>") {
			continue
		}
		if got != fmt.Sprint(want[i]) {
			t.Errorf("call %d of %s: %s is %s, want %v", n, function, part, got, want[i])
		}
	}
}
