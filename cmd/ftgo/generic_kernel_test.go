package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var (
	// columnsRE is what lines of calls have before their functions.
	columnsRE = regexp.MustCompile(`(?m)^.*? main\.`)
	// heapRE is an address on the heap or on a stack.
	heapRE = regexp.MustCompile(`0x[0-9a-f]{9,}`)
	// typeArgsRE is what Go 1.18 to 1.20 leave out of the names of functions.
	typeArgsRE = regexp.MustCompile(`\[go\.shape\.[^]]*\]|\[\.\.\.\]`)
)

// genericLines are the lines of calls without what differs from run to run, and from version to version.
func genericLines(text string) string {
	return typeArgsRE.ReplaceAllString(heapRE.ReplaceAllString(columnsRE.ReplaceAllString(text, "main."), "0xADDR"), "[]")
}

// TestKernelGeneric: values of generic code have the types of the call at hand; without debug information the receivers
// of methods have, and no more is made of the rest than is known.
func TestKernelGeneric(t *testing.T) {
	f := tracetest.LongKernel(t)
	tracetest.Needs(t, f.Features().Arrays, "arrays")
	full := []string{
		`main.(*pile[]).push(p=&{items:nil n:0}, x=&{Name:"bob" Age:42}, n=3)`,
		`main.(*pile[]).push(p=&{items:nil n:0}, x=7, n=2)`,
		`main.(*pile[]).size(p=&{items:[*main.user(0xADDR)] n:3}) = 3`,
		`main.(*pile[]).size(p=&{items:[7] n:2}) = 2`,
		`main.pile[].first(p={items:[*main.user(0xADDR)] n:3}) = 0xADDR`,
		`main.pile[].first(p={items:[7] n:2}) = 7`,
		`main.(*keyed[]).put(k=&{last:"none" next:nil count:0}, key="one", v=&{Name:"eve" Age:1}) = "eve"`,
	}
	stripped := []string{
		`main.(*pile[]).push(p0=&{items:nil n:0}, 0xADDR, 0x3)`,
		`main.(*pile[]).push(p0=&{items:nil n:0}, 0x7, 0x2)`,
		`main.(*pile[]).size(p0=&{items:[0xADDR] n:3})`,
		`main.(*pile[]).size(p0=&{items:[7] n:2})`,
		`main.(*keyed[]).put(p0=&{last:"none" next:nil count:0}, ~"one", 0xADDR)`,
	}
	for _, version := range []string{"1.20.14", "1.22.12", "1.26.8", "1.27.4", fixture.Current} {
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
					r := ftgo(t, append(append([]string{"trace", "-q", "--full", target}, c.funcs...), "--", target)...)
					if got, want := genericLines(r.stdout), strings.Join(c.want, "\n")+"\n"; r.code != 0 || got != want {
						t.Errorf("%q: status %d\ngot\n%s%swant\n%s", c.flags, r.code, got, r.stderr, want)
					}
				}
			})
		}
	}
}

// genericMethods has methods with type parameters of their own, which Go 1.26 can't read.
const genericMethods = `package main

import "fmt"

type box struct{ n int }

//go:noinline
func (b *box) apply[U any](f func(int) U, k int) U { return f(b.n + k) }

//go:noinline
func (b box) pair[K comparable, V any](key K, value V) string { return fmt.Sprint(b.n, key, value) }

type wrap[T any] struct{ v T }

//go:noinline
func (w *wrap[T]) zip[U any](u U) (T, U) { return w.v, u }

func twice(n int) string { return fmt.Sprint(2 * n) }

func main() {
	(&box{1}).apply(twice, 7)
	box{2}.pair("tea", 5)
	(&wrap[string]{"x"}).zip(42)
}
`

// TestKernelGenericMethods: methods of Go 1.27 that have type parameters of their own take a dictionary behind their
// receivers.
func TestKernelGenericMethods(t *testing.T) {
	tracetest.Kernel(t)
	root, dir := fixture.Toolchain(t, "1.27.4"), t.TempDir()
	source := filepath.Join(dir, "main.go")
	fixture.Write(t, source, genericMethods)
	for ldflags, want := range map[string]string{
		"": `main.(*box).apply[](b=&{n:1}, f=main.twice, k=7) = "16"
main.box.pair[](b={n:2}, key="tea", value=5) = "2tea5"
main.(*wrap[]).zip[](w=&{v:"x"}, u=42) = ("x", 42)
`,
		"-s -w": `main.(*box).apply[](0xADDR, 0xCODE, 0x7)
main.box.pair[](0x2, ~"tea", 0x5)
main.(*wrap[]).zip[](0xADDR, 0x2a?)
`,
	} {
		target := filepath.Join(dir, "methods")
		build := exec.Command(filepath.Join(root, "bin", "go"), "build", "-ldflags="+ldflags, "-o", target, source)
		build.Env = append(build.Environ(), "GOROOT="+root, "GOTOOLCHAIN=local", "GO111MODULE=off", "GOFLAGS=", "GOENV=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		r := ftgo(t, "trace", "-q", target, "box.apply", "box.pair", "wrap.zip", "--", target)
		got := regexp.MustCompile(`0x[0-9a-f]{5,6}\b`).ReplaceAllString(genericLines(r.stdout), "0xCODE")
		if r.code != 0 || got != want {
			t.Errorf("%q: status %d\ngot\n%s%swant\n%s", ldflags, r.code, got, r.stderr, want)
		}
	}
}
