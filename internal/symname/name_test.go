package symname

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// namesModule is a small module with most kinds of function names.
var namesModule = map[string]string{
	"go.mod": "module names.example/a.b/zoo\n\ngo 1.24\n",
	"yaml.v3/yaml.go": `package yaml

import "fmt"

type Decoder struct{ n int }

//go:noinline
func Unmarshal(n int) int { return call(func() int { fmt.Println(n); return n }) }

//go:noinline
func call(f func() int) int { return f() }

//go:noinline
func (d *Decoder) Decode() int { fmt.Println(d.n); return d.n }
`,
	"main.go": `package main

import (
	"fmt"

	yaml "names.example/a.b/zoo/yaml.v3"
)

type Store struct{ n int }

//go:noinline
func (s *Store) Get(k int) int { fmt.Println(k); return s.n }

//go:noinline
func (s Store) Len() int { fmt.Println(s.n); return s.n }

type KVStore struct{ n int }

//go:noinline
func (s *KVStore) Get(k int) int { fmt.Println(k); return s.n }

type Tree[K comparable, V any] struct{ m map[K]V }

//go:noinline
func (t *Tree[K, V]) Get(k K) V { run(func() { fmt.Println(k) }); return t.m[k] }

//go:noinline
func (t Tree[K, V]) Len() int { return len(fmt.Sprint(t.m)) }

//go:noinline
func Map[T any](x T) T { run(func() { fmt.Println(x) }); return x }

//go:noinline
func run(f func()) { f() }

//go:noinline
func each(n int) func(func(int) bool) {
	return func(yield func(int) bool) { for i := 0; i < n && yield(i); i++ { fmt.Print() } }
}

func init() { fmt.Println("init") }

var atStart = func() int { fmt.Println("atStart"); return 1 }

type Lener interface{ Len() int }

//go:noinline
func bound(l Lener) func() int { return l.Len }

func main() {
	s := &Store{1}
	defer s.Get(2)
	go s.Get(2)
	fmt.Println(s.Len(), bound(s)(), bound(*s)(), (&KVStore{}).Get(1), atStart())
	run(func() { run(func() { fmt.Println(s) }) })
	for i := range each(2) { defer fmt.Print(i) }
	t := &Tree[string, struct {
		A int ` + "`json:\"a]]b.(*c\"`" + `
		B [3]int
	}]{}
	fmt.Println(t.Get("x"), t.Len())
	fmt.Println((&Tree[[2]Store, func(int, ...string) error]{}).Get([2]Store{}) == nil)
	fmt.Println(Map(1), Map("s"), Map(yaml.Decoder{}))
	embedded := struct { *Store; X int }{s, 1}
	fmt.Println(bound(embedded)())
	fmt.Println(yaml.Unmarshal(1), (&yaml.Decoder{}).Decode())
}
`,
}

// linked builds namesModule and returns the names of the functions in its symbol table.
var linked = sync.OnceValues(func() ([]string, error) {
	dir, err := os.MkdirTemp("", "names")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range namesModule {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	build := exec.Command("go", "build", "-o", "zoo", ".")
	build.Dir, build.Stderr = dir, os.Stderr
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if err := build.Run(); err != nil {
		return nil, err
	}
	return functions(filepath.Join(dir, "zoo"))
})

// functions returns the names of the functions in a program's symbol table.
func functions(path string) (names []string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			names = append(names, strings.TrimSuffix(s.Name, ".abi0"))
		}
	}
	return names, err
}

func linkedNames(t testing.TB) []string {
	t.Helper()
	names, err := linked()
	fixture.NoError(t, err)
	return names
}

// joined joins the parts of a symbol.
func joined(n Name) string {
	if n.Receiver == "" {
		return n.Prefix + n.Func + n.TypeArgs + n.Suffix
	}
	receiver := n.Receiver + n.TypeArgs
	if n.Pointer {
		receiver = "(*" + receiver + ")"
	}
	return n.Prefix + receiver + "." + n.Func + n.Suffix
}

const tagged = `[go.shape.string,go.shape.struct { A int "json:\"a]]b.(*c\""; B [3]int }]`

func TestSplit(t *testing.T) {
	const yaml, yamlSym = "names.example/a.b/zoo/yaml.v3", "names.example/a.b/zoo/yaml%2ev3."
	tests := []struct {
		scenario, sym string
		want          Name
		// elsewhere marks symbols that namesModule does not have.
		elsewhere bool
	}{
		{scenario: "function", sym: "main.run",
			want: Name{Package: "main", Func: "run", Prefix: "main."}},
		{scenario: "pointer method", sym: "main.(*Store).Get",
			want: Name{Package: "main", Receiver: "Store", Pointer: true, Func: "Get", Prefix: "main."}},
		{scenario: "value method", sym: "main.Store.Len",
			want: Name{Package: "main", Receiver: "Store", Func: "Len", Prefix: "main."}},
		{scenario: "escaped package", sym: yamlSym + "(*Decoder).Decode",
			want: Name{Package: yaml, Receiver: "Decoder", Pointer: true, Func: "Decode", Prefix: yamlSym}},
		{scenario: "closure in escaped package", sym: yamlSym + "Unmarshal.func1",
			want: Name{Package: yaml, Func: "Unmarshal", Suffix: ".func1", Prefix: yamlSym}},
		{scenario: "instance", sym: "main.Map[go.shape.int]",
			want: Name{Package: "main", Func: "Map", TypeArgs: "[go.shape.int]", Prefix: "main."}},
		{scenario: "closure of an instance", sym: "main.Map[go.shape.int].func1",
			want: Name{Package: "main", Func: "Map", TypeArgs: "[go.shape.int]", Suffix: ".func1", Prefix: "main."}},
		{scenario: "dotted path in a type argument", sym: "main.Map[go.shape.struct { " + yamlSym + "n int }]",
			want: Name{Package: "main", Func: "Map", TypeArgs: "[go.shape.struct { " + yamlSym + "n int }]", Prefix: "main."}},
		{scenario: "bracket in a struct tag", sym: "main.(*Tree" + tagged + ").Get",
			want: Name{Package: "main", Receiver: "Tree", Pointer: true, TypeArgs: tagged, Func: "Get", Prefix: "main."}},
		{scenario: "value method of an instance", sym: "main.Tree" + tagged + ".Len",
			want: Name{Package: "main", Receiver: "Tree", TypeArgs: tagged, Func: "Len", Prefix: "main."}},
		{scenario: "array and function as arguments", sym: "main.(*Tree[go.shape.[2]main.Store,go.shape.func(int, ...string) error]).Get",
			want: Name{Package: "main", Receiver: "Tree", Pointer: true, TypeArgs: "[go.shape.[2]main.Store,go.shape.func(int, ...string) error]", Func: "Get", Prefix: "main."}},
		{scenario: "nested closure", sym: "main.main.func1.1", want: Name{Package: "main", Func: "main", Suffix: ".func1.1", Prefix: "main."}},
		{scenario: "deferred call", sym: "main.main.deferwrap1", want: Name{Package: "main", Func: "main", Suffix: ".deferwrap1", Prefix: "main."}},
		{scenario: "go statement", sym: "main.main.gowrap2", want: Name{Package: "main", Func: "main", Suffix: ".gowrap2", Prefix: "main."}},
		{scenario: "range-over-func body", sym: "main.main-range1", want: Name{Package: "main", Func: "main", Suffix: "-range1", Prefix: "main."}},
		{scenario: "init function", sym: "main.init.0", want: Name{Package: "main", Func: "init", Suffix: ".0", Prefix: "main."}},
		{scenario: "package variable's closure", sym: "main.init.func1", want: Name{Package: "main", Func: "init", Suffix: ".func1", Prefix: "main."}},
		{scenario: "method value of an interface", sym: "main.Lener.Len-fm",
			want: Name{Package: "main", Receiver: "Lener", Func: "Len", Suffix: "-fm", Prefix: "main."}},
		{scenario: "promoted method of an unnamed struct", sym: "go:struct { *main.Store; X int }.Len",
			want: Name{Package: "go", Receiver: "struct { *main.Store; X int }", Func: "Len", Prefix: "go:"}},
		{scenario: "equality of a type", sym: "type:.eq.sync/atomic.Bool", want: Name{Func: "type:.eq.sync/atomic.Bool"}},
		{scenario: "function with an assembly body", sym: "runtime.memmove", want: Name{Package: "runtime", Func: "memmove", Prefix: "runtime."}},
		{scenario: "slash in the package", sym: "internal/poll.(*FD).Write",
			want: Name{Package: "internal/poll", Receiver: "FD", Pointer: true, Func: "Write", Prefix: "internal/poll."}},
		{scenario: "closure of an inlined instance", sym: "internal/poll.init.OnceValue[go.shape.bool].func4.1", elsewhere: true,
			want: Name{Package: "internal/poll", Func: "init", Suffix: ".OnceValue[go.shape.bool].func4.1", Prefix: "internal/poll."}},
		{scenario: "closure of a method inlined into an instance", sym: "main.Map[go.shape.int].(*Store).Get.func1", elsewhere: true,
			want: Name{Package: "main", Func: "Map", TypeArgs: "[go.shape.int]", Suffix: ".(*Store).Get.func1", Prefix: "main."}},
		{scenario: "generic method", sym: "main.(*Tree[go.shape.int]).Map[go.shape.string]", elsewhere: true,
			want: Name{Package: "main", Receiver: "Tree", Pointer: true, TypeArgs: "[go.shape.int]", Func: "Map[go.shape.string]", Prefix: "main."}},
		{scenario: "generic value method", sym: "main.Store.Map[go.shape.string]", elsewhere: true,
			want: Name{Package: "main", Receiver: "Store", Func: "Map[go.shape.string]", Prefix: "main."}},
		{scenario: "closure of a function inlined into main", sym: "main.main.each.func1", elsewhere: true,
			want: Name{Package: "main", Func: "main", Suffix: ".each.func1", Prefix: "main."}},
		{scenario: "closure of a function inlined into init", sym: "main.init.each.func1", elsewhere: true,
			want: Name{Package: "main", Func: "init", Suffix: ".each.func1", Prefix: "main."}},
		{scenario: "method of a type named main", sym: "a/b.main.Run", elsewhere: true,
			want: Name{Package: "a/b", Receiver: "main", Func: "Run", Prefix: "a/b."}},
		{scenario: "deferred call of a function", sym: "main.run.deferwrap1", elsewhere: true, want: Name{Package: "main", Func: "run", Suffix: ".deferwrap1", Prefix: "main."}},
		{scenario: "go statement of a function", sym: "main.run.gowrap2", elsewhere: true, want: Name{Package: "main", Func: "run", Suffix: ".gowrap2", Prefix: "main."}},
		{scenario: "Go 1.17 deferred call", sym: "runtime.doSlow.dwrap.2", elsewhere: true,
			want: Name{Package: "runtime", Func: "doSlow", Suffix: ".dwrap.2", Prefix: "runtime."}},
		{scenario: "method named func", sym: "main.T.func", elsewhere: true, want: Name{Package: "main", Receiver: "T", Func: "func", Prefix: "main."}},
		{scenario: "assembly in the symbol table", sym: "runtime.memmove.abi0", elsewhere: true,
			want: Name{Package: "runtime", Func: "memmove", Suffix: ".abi0", Prefix: "runtime."}},
		{scenario: "package beyond ASCII", sym: "example.com/caf%c3%a9.F", elsewhere: true,
			want: Name{Package: "example.com/café", Func: "F", Prefix: "example.com/caf%c3%a9."}},
		{scenario: "no escape", sym: "a/b%zz%41.F", elsewhere: true, want: Name{Package: "a/b%zz%41", Func: "F", Prefix: "a/b%zz%41."}},
		{scenario: "empty part", sym: "main..F", elsewhere: true, want: Name{Package: "main", Suffix: ".F", Prefix: "main."}},
		{scenario: "Go 1.20 package closure", sym: "main.glob..func1", elsewhere: true, want: Name{Package: "main", Func: "glob", Suffix: "..func1", Prefix: "main."}},
		{scenario: "Go 1.18 shape", sym: "main.Map[go.shape.int_0]", elsewhere: true,
			want: Name{Package: "main", Func: "Map", TypeArgs: "[go.shape.int_0]", Prefix: "main."}},
		{scenario: "Go 1.20 pclntab", sym: "main.(*Map[...]).Get-fm", elsewhere: true,
			want: Name{Package: "main", Receiver: "Map", Pointer: true, TypeArgs: "[...]", Func: "Get", Suffix: "-fm", Prefix: "main."}},
		{scenario: "Go 1.17 pclntab", sym: "runtime.doSlow·dwrap·2", elsewhere: true,
			want: Name{Package: "runtime", Func: "doSlow", Suffix: "·dwrap·2", Prefix: "runtime."}},
		{scenario: "Go 1.4 closure", sym: "main.func·001", elsewhere: true, want: Name{Package: "main", Func: "func", Suffix: "·001", Prefix: "main."}},
		{scenario: "local type in pclntab", sym: "main.(*local·1).Val", elsewhere: true,
			want: Name{Package: "main", Receiver: "local·1", Pointer: true, Func: "Val", Prefix: "main."}},
		{scenario: "letters beyond ASCII", sym: "main.(*T).Mé-fm", elsewhere: true,
			want: Name{Package: "main", Receiver: "T", Pointer: true, Func: "Mé", Suffix: "-fm", Prefix: "main."}},
		{scenario: "micro sign is no middle dot", sym: "main.µs", elsewhere: true, want: Name{Package: "main", Func: "µs", Prefix: "main."}},
		{scenario: "hyphens in the path", sym: "example.com/a-b/c-d.F", elsewhere: true,
			want: Name{Package: "example.com/a-b/c-d", Func: "F", Prefix: "example.com/a-b/c-d."}},
		{scenario: "C function", sym: "_cgo_try_pthread_create", elsewhere: true, want: Name{Func: "_cgo_try_pthread_create"}},
		{scenario: "unbalanced", sym: "main.(*T[int.Get", elsewhere: true, want: Name{Package: "main", Func: "(*T[int.Get", Prefix: "main."}},
		{scenario: "empty", sym: "", elsewhere: true, want: Name{}},
	}
	names := linkedNames(t)
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			got := Split(tt.sym)
			if got != tt.want {
				t.Errorf("Split(%q)\n got %+v\nwant %+v", tt.sym, got, tt.want)
			}
			if joined(got) != tt.sym {
				t.Errorf("Split(%q) joined is %q", tt.sym, joined(got))
			}
			if !tt.elsewhere && !slices.Contains(names, tt.sym) {
				t.Errorf("the linked program has no %s", tt.sym)
			}
		})
	}
}

// TestSplitLinked checks that the parts of each name of a program are the whole name, and compares the packages with
// debug/gosym's.
func TestSplitLinked(t *testing.T) {
	names := linkedNames(t)
	if len(names) < 1000 {
		t.Fatalf("only %d functions in the linked program", len(names))
	}
	for _, name := range names {
		n := Split(name)
		if joined(n) != name {
			t.Errorf("Split(%q) joined is %q", name, joined(n))
		}
		if strings.HasPrefix(name, "go:") || strings.HasPrefix(name, "type:") {
			continue // not packages, but debug/gosym says so
		}
		want := (&gosym.Sym{Name: name}).PackageName()
		if got := strings.TrimSuffix(n.Prefix, "."); got != want {
			t.Errorf("Split(%q): prefix %q, debug/gosym says %q", name, got, want)
		}
	}
}

func TestRespell(t *testing.T) {
	tests := []struct{ scenario, sym, plain, pointer, args string }{
		{"function", "main.run", "main.run", "main.run", "main.run"},
		{"pointer method", "main.(*Store).Get", "main.Store.Get", "main.(*Store).Get", "main.Store.Get"},
		{"instance", "main.(*Map[go.shape.int_0,string]).Get", "main.Map.Get", "main.(*Map).Get", "main.Map[int,string].Get"},
		{"inlined pointer method", "main.f.(*T).M.func1", "main.f.T.M.func1", "main.f.(*T).M.func1", "main.f.T.M.func1"},
		{"escapes", "a/b%2ec.F", "a/b.c.F", "a/b.c.F", "a/b.c.F"},
		{"middle dot", "main.(*local·1).M", "main.local.1.M", "main.(*local.1).M", "main.local.1.M"},
		{"unnamed struct", "go:(*struct { *main.T; F [2]int }).M", "go:struct { *main.T; F [2]int }.M",
			"go:(*struct { *main.T; F [2]int }).M", "go:struct { *main.T; F [2]int }.M"},
		{"nested parentheses", "a.(*(*b)).c", "a.(*b).c", "a.(*(*b)).c", "a.(*b).c"},
		{"unbalanced", "a.(*b[c.d", "a.(*b[c.d", "a.(*b[c.d", "a.(*b[c.d"},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			for parts, want := range map[keepFlags]string{0: tt.plain, keepPointer: tt.pointer, keepArgs: tt.args} {
				if got := respell(tt.sym, parts); got != want {
					t.Errorf("respell(%q, %d) = %q, want %q", tt.sym, parts, got, want)
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, sym := range []string{
		"main.(*Tree" + tagged + ").Get.func1", "gopkg.in/yaml%2ev3.F", "go:struct { *main.T }.M",
		"type:.eq.[2]interface {}", "main.init·1", "a.B[c].d-fm", "main.(*).x", "(*[)].x\xc2", `a.[{"`,
	} {
		f.Add(sym)
	}
	f.Fuzz(func(t *testing.T, sym string) {
		n := Split(sym)
		if joined(n) != sym {
			t.Errorf("Split(%q) joined is %q", sym, joined(n))
		}
		if n.Receiver == "" && n.Pointer {
			t.Errorf("Split(%q): pointer without receiver", sym)
		}
		for _, parts := range []keepFlags{0, keepPointer, keepArgs, keepPointer | keepArgs} {
			once := respell(sym, parts)
			if len(once) > len(sym) {
				t.Errorf("respell(%q, %d) = %q grew", sym, parts, once)
			}
		}
	})
}
