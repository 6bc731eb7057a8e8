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
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
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

// TestKernelStrippedConditions: words and types of stripped programs serve conditions and rows as far as they are known;
// what they can't serve costs one clear line.
func TestKernelStrippedConditions(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	tracetest.Needs(t, f.Features().Arrays, "arrays")
	target := fixture.Build(t, "generic", "-ldflags=-s -w")
	for _, c := range []struct {
		name     string
		function string
		flags    []string
		code     int
		want     string
	}{
		{"a word", "main.pile.push", []string{"trace", "--where", "p2 == 2"}, 0, `, 0x7, 0x2)`},
		{"a field", "main.user.String", []string{"trace", "--where", "p0.Age == 1"}, 0, `p0=&{Name:"eve" Age:1}`},
		{"a result", "main.user.String", []string{"trace", "--where", `r0 == "eve"`}, 0, `= "eve"`},
		{"rows by a word", "main.pile.push", []string{"count", "-o", "json", "--by", "p2"}, 0, `"value":"0x3"`},
		{"rows by a field", "main.user.String", []string{"count", "-o", "json", "--by", "p0.Name"}, 0, `"value":"eve"`},
		{"no result", "main.pile.size", []string{"trace", "--where", "r0 == 3"}, 2, "results of main.(*pile["},
		{"no error", "main.pile.size", []string{"trace", "--where", "err != nil"}, 2, "]).size are not known: no debug information; "},
		{"a field of what is not known", "main.pile.size", []string{"trace", "--where", "p0.n == 3"}, 2, "points to is not known"},
		{"words for text", "main.keyed.put", []string{"trace", "--where", `p1 == "one"`}, 2, "p1 is {word, word}, which filters can't compare"},
		{"a sum of words", "main.keyed.put", []string{"count", "--sum", "p1"}, 2, "p1 is {word, word}, which "},
		{"rows by words", "main.keyed.put", []string{"count", "--by", "p1"}, 2, "p1 is {word, word}, which "},
		{"rows by a result", "main.pile.size", []string{"probe", "--by", "r0"}, 2, "results of main.(*pile["},
		{"a word that may be another's", "main.length", []string{"trace", "--where", "p0.w1 == 1"}, 2, "it may be another argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append(append([]string{c.flags[0], "-q"}, c.flags[1:]...), target, c.function, "--", target)
			r := ftgo(t, args...)
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) || c.code != 0 && (strings.Count(r.stderr, "\n") != 1 || r.stdout != "") {
				t.Errorf("status %d\n%s%swant %q", r.code, r.stdout, r.stderr, c.want)
			}
		})
	}
}
