package trials

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// huge is the size of a program made for being large.
type huge struct{ packages, functions int } // functions of each package

// hugeFunction has a loop, a panic, a map and several returns, as functions do.
const hugeFunction = `
func F%[1]d(n int, s []int, t string) int {
	if n%%(%[1]d+2) == 3 {
		return len(t)
	}
	for i := range s {
		if s[i] += n + %[1]d; s[i] == %[1]d {
			panic(t)
		}
	}
	m := map[string]int{t: n}
	return s[n&7] + m[t+t]
}
`

// generate writes and compiles it, with and without symbols and debug information.
func (b *bench) generate(size huge) (full, stripped string) {
	dir, cache := b.path("huge"), b.path("cache")
	full, stripped = b.path("big"), b.path("stripped")
	var imports, calls, all, functions strings.Builder
	for f := range size.functions {
		fmt.Fprintf(&all, "F%d, ", f)
		fmt.Fprintf(&functions, hugeFunction, f)
	}
	for p := range size.packages {
		fmt.Fprintf(&imports, "import p%[1]d \"huge/p%[1]d\"\n", p)
		fmt.Fprintf(&calls, "\tfor _, f := range p%d.All {\n\t\tn += f(n, []int{n}, \"x\")\n\t}\n", p)
		fixture.Write(b, filepath.Join(dir, fmt.Sprintf("p%d", p), "p.go"), "package p\n\nvar All = [...]func(int, []int, string) int{"+all.String()+"}\n"+functions.String())
	}
	fixture.Write(b, filepath.Join(dir, "main.go"), "package main\n\n"+imports.String()+
		"\n//go:noinline\nfunc f(n int) int { return n + 1 }\n\nfunc main() {\n\tn := f(0)\n"+calls.String()+"\tprintln(n)\n}\n")
	fixture.Write(b, filepath.Join(dir, "go.mod"), "module huge\n\ngo 1.21\n")
	for _, args := range [][]string{{"-o", full, "."}, {"-o", stripped, "-ldflags=-s -w", "."}} {
		build := command(b, 15*time.Minute, "go", append([]string{"build", "-gcflags=-l"}, args...)...)
		build.Dir, build.Env = dir, append(build.Environ(), "GOCACHE="+cache) // one of its own, to leave nothing behind
		_, err := build.run()
		check(b, err)
	}
	check(b, os.RemoveAll(cache))
	return full, stripped
}
