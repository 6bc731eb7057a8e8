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
				if _, err := m.in.(io.Writer).Write([]byte("\n")); err != nil {
					t.Fatal(err)
				}
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

// TestKernelAskedWhere: filters go by the same, also in a program that was stripped.
func TestKernelAskedWhere(t *testing.T) {
	fixture.NeedLong(t)
	arrays := tracetest.Kernel(t).Features().Arrays
	for _, c := range []struct {
		flags, function, where string
		want                   string
	}{
		{"", "main.held(n)", "x.(*box).status >= 16", "16 18"},
		{"", "main.found(n)", `texts["k2"][0] == "v2" && len(numbers) < 6`, "3 4 5"},
		{"", "main.found(n)", `len(texts["k2"]) == 0 && texts["k1"] != nil`, "2"},
		{"", "main.found(n)", `numbers["k3"] == 0 || large["k0"][0] == 0 && boxes[-4].status == 0 && n == 4`, "0 1 2 3"},
		{"", "main.changed(n)", "s == done && l == main.highest", "2 12"},
		{"", "main.fourth(n)", `+56(+16(goarg4)):string =~ "[78]$"`, "7 8 17 18"},
		{"-s -w", "main.fourth(n=goarg1)", "goarg1 > 17 || +0(goarg4) == 2", "2 18 19"},
		{"-s -w", "main.fourth(n=goarg1)", `goret1:string == "result 5"`, "5"},
		{"-s -w", "main.held(n=goarg1)", `goarg3.(*main.box).label == "box 4"`, "4"},
	} {
		t.Run(c.where, func(t *testing.T) {
			tracetest.Needs(t, arrays || c.function != "main.found(n)", "arrays, for two maps at once (Linux 4.20)")
			target := fixture.Build(t, "asked", "-ldflags", c.flags)
			r := ftgo(t, "trace", "--format", "%v", "n", "--where", c.where, target, c.function, "--", target)
			if got := strings.Join(strings.Fields(r.stdout), " "); r.code != 0 || got != c.want {
				t.Errorf("calls %s, want %s\n%s", got, c.want, r.stderr)
			}
		})
	}
}

// TestKernelAskedParts: package variables have the same parts, and what to type for parts is said where
// FUNC has the types.
func TestKernelAskedParts(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "asked")
	r := ftgo(t, "watch", "--at", "main.held", "-n", "3", target, `main.boxes["a"].status`, "main.thing.(*box).label", `main.boxes["b"]`, "--", target)
	for _, want := range []string{`main.boxes["a"].status = 3`, `main.thing.(*box).label = "kept"`, `main.boxes["b"] = <unreadable: no such key>`} {
		if r.code != 0 || !strings.Contains(r.stdout, want+"\n") {
			t.Errorf("status %d, without %s:\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	r = ftgo(t, "trace", "-n", "1", target, "main.fourth(n, b, c int, d *fmt.pp)", "--", target)
	if want := "fields: ask for parts, --format '%v %v %v %v' n,b,c,d."; r.code != 0 || !strings.Contains(r.stderr, want) {
		t.Errorf("status %d, without %s:\n%s", r.code, want, r.stderr)
	}
}
