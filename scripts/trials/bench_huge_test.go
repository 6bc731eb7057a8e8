package trials

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"text/template"
	"time"
)

// huge is the size of a program made for being large.
type huge struct{ packages, functions int } // functions of each package

// Functions have loops, panics, maps and several returns, as functions do.
var (
	hugePackage = template.Must(template.New("").Parse(`package p

var All = [...]func(int, []int, string) int{
{{range .}}	F{{.}},
{{end}}}
{{range .}}
func F{{.}}(n int, s []int, t string) int {
	if n%({{.}}+2) == 3 {
		return len(t)
	}
	for i := range s {
		if s[i] += n + {{.}}; s[i] == {{.}} {
			panic(t)
		}
	}
	m := map[string]int{t: n}
	return s[n&7] + m[t+t]
}
{{end}}`))
	hugeMain = template.Must(template.New("").Parse(`package main

import (
{{range .}}	p{{.}} "huge/p{{.}}"
{{end}})

//go:noinline
func f(n int) int { return n + 1 }

func main() {
	n := f(0)
{{range .}}	for _, f := range p{{.}}.All {
		n += f(n, []int{n}, "x")
	}
{{end}}	println(n)
}
`))
)

// generate writes and compiles it, with and without symbols and debug information.
func (b *bench) generate(size huge) (full, stripped string) {
	dir, cache := b.path("huge"), b.path("cache")
	full, stripped = b.path("big"), b.path("stripped")
	write := func(name string, text *template.Template, n int) {
		var source bytes.Buffer
		check(b, text.Execute(&source, n))
		check(b, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		check(b, os.WriteFile(filepath.Join(dir, name), source.Bytes(), 0o644))
	}
	for p := range size.packages {
		write(filepath.Join("p"+strconv.Itoa(p), "p.go"), hugePackage, size.functions)
	}
	write("main.go", hugeMain, size.packages)
	write("go.mod", template.Must(template.New("").Parse("module huge\n\ngo 1.21\n")), 0)
	for _, args := range [][]string{{"-o", full, "."}, {"-o", stripped, "-ldflags=-s -w", "."}} {
		build := command(b, 15*time.Minute, "go", append([]string{"build", "-gcflags=-l"}, args...)...)
		build.Dir, build.Env = dir, append(build.Environ(), "GOCACHE="+cache) // one of its own, to leave nothing behind
		_, err := build.run()
		check(b, err)
	}
	check(b, os.RemoveAll(cache))
	return full, stripped
}
