package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var (
	// heapRE is an address on the heap or on a stack.
	heapRE = regexp.MustCompile(`0x[0-9a-f]{9,}`)
	// typeArgsRE is what Go 1.18 to 1.20 leave out of the names of functions.
	typeArgsRE = regexp.MustCompile(`\[go\.shape\.[^]]*\]|\[\.\.\.\]`)
)

// genericLines are the lines of calls without what differs from run to run, and from version to version.
func genericLines(text string) string {
	return typeArgsRE.ReplaceAllString(heapRE.ReplaceAllString(withoutColumns(text), "0xADDR"), "[]")
}

// TestKernelGeneric: values of generic code have the types of the call at hand; without debug information the receivers
// of methods have, and no more is made of the rest than is known.
func TestKernelGeneric(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	tracetest.Needs(t, f.Features().Arrays, "arrays")
	full := []string{
		`main.(*pile[]).push(p=&{items:nil n:0}, x=&{Name:"bob" Age:42}, n=3)`,
		`main.(*pile[]).push(p=&{items:nil n:0}, x=7, n=2)`,
		`main.(*pile[]).size(p=&{items:[0xADDR] n:3}) = 3`,
		`main.(*pile[]).size(p=&{items:[7] n:2}) = 2`,
		`main.pile[].first(p={items:[0xADDR] n:3}) = 0xADDR`,
		`main.pile[].first(p={items:[7] n:2}) = 7`,
		`main.(*keyed[]).put(k=&{last:"none" next:nil count:0}, key="one", v=&{Name:"eve" Age:1}) = "eve"`,
	}
	stripped := []string{
		`main.(*pile[]).push(p0=&{items:nil n:0}, 0xADDR, 0x3)`,
		`main.(*pile[]).push(p0=&{items:nil n:0}, 0x7, 0x2)`,
		`main.(*pile[]).size(p0=&{items:[…+1] n:3})`,
		`main.(*pile[]).size(p0=&{items:[…+1] n:2})`,
		`main.(*keyed[]).put(p0=&{last:"none" next:nil count:0}, ~"one", 0xADDR)`,
	}
	for _, version := range []string{"1.20.14", "1.22.12", fixture.Current} {
		for _, mode := range []string{"exe", "pie"} {
			t.Run(version+" "+mode, func(t *testing.T) {
				for _, c := range []struct {
					flags string
					funcs []string
					want  []string
				}{
					{"", []string{"main.pile.*", "main.keyed.put"}, full},
					{"-s -w", []string{"main.(*pile).*", "main.keyed.put"}, stripped},
				} {
					target := fixture.BuildWith(t, version, "generic", "-buildmode="+mode, "-ldflags="+c.flags)
					r := ftgo(t, append(append([]string{"trace", "-q", "--values", "full", target}, c.funcs...), "--", target)...)
					if got, want := genericLines(r.stdout), strings.Join(c.want, "\n")+"\n"; r.code != 0 || got != want {
						t.Errorf("%q: status %d\ngot\n%s%swant\n%s", c.flags, r.code, got, r.stderr, want)
					}
				}
			})
		}
	}
}
