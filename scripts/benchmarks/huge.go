//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// huge is the size of a program made for being large.
type huge struct{ packages, functions int } // functions of each package

// generate writes and compiles it, with and without symbols and debug information. Its
// functions have loops, panics, maps and several returns, as functions do.
func (b *bench) generate(size huge, full, stripped string) error {
	dir := b.path("huge")
	var imports, calls bytes.Buffer
	for p := range size.packages {
		var text bytes.Buffer
		fmt.Fprintf(&text, "package p%d\n\nvar All = [...]func(int, []int, string) int{\n", p)
		for i := range size.functions {
			fmt.Fprintf(&text, "\tF%d,\n", i)
		}
		fmt.Fprint(&text, "}\n")
		for i := range size.functions {
			fmt.Fprintf(&text, `
func F%d(n int, s []int, t string) int {
	if n%%%d == 3 {
		return len(t)
	}
	for i := range s {
		if s[i] += n + %d; s[i] == %d {
			panic(t)
		}
	}
	m := map[string]int{t: n}
	return s[n&7] + m[t+t]
}
`, i, i+2, i, i)
		}
		fmt.Fprintf(&imports, "\t\"huge/p%d\"\n", p)
		fmt.Fprintf(&calls, "\tfor _, f := range p%d.All {\n\t\tn += f(n, []int{n}, \"x\")\n\t}\n", p)
		if err := write(filepath.Join(dir, fmt.Sprint("p", p), "p.go"), text.Bytes()); err != nil {
			return err
		}
	}
	program := fmt.Sprintf("package main\n\nimport (\n%s)\n\n//go:noinline\nfunc f(n int) int { return n + 1 }\n\nfunc main() {\n\tn := f(0)\n%s\tprintln(n)\n}\n",
		imports.Bytes(), calls.Bytes())
	if err := write(filepath.Join(dir, "main.go"), []byte(program)); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "go.mod"), []byte("module huge\n\ngo 1.21\n")); err != nil {
		return err
	}
	// A build cache of its own, to leave nothing behind.
	build := []string{"-C", dir, "GOCACHE=" + b.path("cache"), "go", "build", "-gcflags=-l"}
	if _, err := b.run(15*time.Minute, "env", append(build, "-o", full, ".")...); err != nil {
		return err
	}
	if _, err := b.run(5*time.Minute, "env", append(build, "-ldflags=-s -w", "-o", stripped, ".")...); err != nil {
		return err
	}
	return os.RemoveAll(b.path("cache"))
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
