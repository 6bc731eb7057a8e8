package symname

import (
	"debug/elf"
	"debug/gosym"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// linkedNames returns the names of the functions in the symbol table of testdata/names.
func linkedNames(t testing.TB) (names []string) {
	t.Helper()
	f, err := elf.Open(fixture.Build(t, "names"))
	fixture.NoError(t, err)
	defer f.Close()
	symbols, err := f.Symbols()
	fixture.NoError(t, err)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			names = append(names, strings.TrimSuffix(s.Name, ".abi0"))
		}
	}
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

// parts formats the parts of a symbol: package|receiver|function|type arguments|suffix.
func parts(n Name) string {
	receiver := n.Receiver
	if n.Pointer {
		receiver = "*" + receiver
	}
	return fmt.Sprintf("%s|%s|%s|%s|%s", n.Package, receiver, n.Func, n.TypeArgs, n.Suffix)
}

// linkedParts has names of functions of testdata/names, and their parts.
var linkedParts = map[string]string{
	`main.run`:          `main||run||`,
	`main.(*Store).Get`: `main|*Store|Get||`,
	`main.Store.Len`:    `main|Store|Len||`,
	`github.com/ftgo/ftgo/testdata/names/yaml%2ev3.(*Decoder).Decode`: `github.com/ftgo/ftgo/testdata/names/yaml.v3|*Decoder|Decode||`,
	`github.com/ftgo/ftgo/testdata/names/yaml%2ev3.Unmarshal.func1`:   `github.com/ftgo/ftgo/testdata/names/yaml.v3||Unmarshal||.func1`,
	`main.Map[go.shape.int]`:       `main||Map|[go.shape.int]|`,
	`main.Map[go.shape.int].func1`: `main||Map|[go.shape.int]|.func1`,
	`main.Map[go.shape.struct { github.com/ftgo/ftgo/testdata/names/yaml%2ev3.n int }]`:         `main||Map|[go.shape.struct { github.com/ftgo/ftgo/testdata/names/yaml%2ev3.n int }]|`,
	`main.(*Tree[go.shape.string,go.shape.struct { A int "json:\"a]]b.(*c\""; B [3]int }]).Get`: `main|*Tree|Get|[go.shape.string,go.shape.struct { A int "json:\"a]]b.(*c\""; B [3]int }]|`,
	`main.Tree[go.shape.string,go.shape.struct { A int "json:\"a]]b.(*c\""; B [3]int }].Len`:    `main|Tree|Len|[go.shape.string,go.shape.struct { A int "json:\"a]]b.(*c\""; B [3]int }]|`,
	`main.(*Tree[go.shape.[2]main.Store,go.shape.func(int, ...string) error]).Get`:              `main|*Tree|Get|[go.shape.[2]main.Store,go.shape.func(int, ...string) error]|`,
	`main.main.func1.1`:                    `main||main||.func1.1`,
	`main.main.deferwrap1`:                 `main||main||.deferwrap1`,
	`main.main.gowrap2`:                    `main||main||.gowrap2`,
	`main.main-range1`:                     `main||main||-range1`,
	`main.init.0`:                          `main||init||.0`,
	`main.init.func1`:                      `main||init||.func1`,
	`main.Lener.Len-fm`:                    `main|Lener|Len||-fm`,
	`go:struct { *main.Store; X int }.Len`: `go|struct { *main.Store; X int }|Len||`,
	`type:.eq.sync/atomic.Bool`:            `||type:.eq.sync/atomic.Bool||`,
	`runtime.memmove`:                      `runtime||memmove||`,
	`internal/poll.(*FD).Write`:            `internal/poll|*FD|Write||`,
}

// otherParts has names that other programs have: of other versions of Go, of C, with letters beyond ASCII, or nonsense.
var otherParts = map[string]string{
	`internal/poll.init.OnceValue[go.shape.bool].func4.1`: `internal/poll||init||.OnceValue[go.shape.bool].func4.1`,
	`main.Map[go.shape.int].(*Store).Get.func1`:           `main||Map|[go.shape.int]|.(*Store).Get.func1`,
	`main.(*Tree[go.shape.int]).Map[go.shape.string]`:     `main|*Tree|Map[go.shape.string]|[go.shape.int]|`,
	`main.Store.Map[go.shape.string]`:                     `main|Store|Map[go.shape.string]||`,
	`main.main.each.func1`:                                `main||main||.each.func1`,
	`main.init.each.func1`:                                `main||init||.each.func1`,
	`a/b.main.Run`:                                        `a/b|main|Run||`,
	`main.run.deferwrap1`:                                 `main||run||.deferwrap1`,
	`main.run.gowrap2`:                                    `main||run||.gowrap2`,
	`runtime.doSlow.dwrap.2`:                              `runtime||doSlow||.dwrap.2`,
	`main.T.func`:                                         `main|T|func||`,
	`runtime.memmove.abi0`:                                `runtime||memmove||.abi0`,
	`example.com/caf%c3%a9.F`:                             `example.com/café||F||`,
	`a/b%zz%41.F`:                                         `a/b%zz%41||F||`,
	`main..F`:                                             `main||||.F`,
	`main.glob..func1`:                                    `main||glob||..func1`,
	`main.Map[go.shape.int_0]`:                            `main||Map|[go.shape.int_0]|`,
	`main.(*Map[...]).Get-fm`:                             `main|*Map|Get|[...]|-fm`,
	`runtime.doSlow·dwrap·2`:                              `runtime||doSlow||·dwrap·2`,
	`main.func·001`:                                       `main||func||·001`,
	`main.(*local·1).Val`:                                 `main|*local·1|Val||`,
	`main.(*T).Mé-fm`:                                     `main|*T|Mé||-fm`,
	`main.µs`:                                             `main||µs||`,
	`example.com/a-b/c-d.F`:                               `example.com/a-b/c-d||F||`,
	`_cgo_try_pthread_create`:                             `||_cgo_try_pthread_create||`,
	`main.(*T[int.Get`:                                    `main||(*T[int.Get||`,
	``:                                                    `||||`,
}

func TestSplit(t *testing.T) {
	for _, table := range []map[string]string{linkedParts, otherParts} {
		for symbol, want := range table {
			got := Split(symbol)
			if parts(got) != want {
				t.Errorf("Split(%q) is %s, want %s", symbol, parts(got), want)
			}
			if joined(got) != symbol {
				t.Errorf("Split(%q) joined is %q", symbol, joined(got))
			}
		}
	}
	names := linkedNames(t)
	for symbol := range linkedParts {
		if !slices.Contains(names, symbol) {
			t.Errorf("the linked program has no %s", symbol)
		}
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
			for parts, want := range map[int]string{0: tt.plain, keepPointer: tt.pointer, keepArgs: tt.args} {
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
		for _, parts := range []int{0, keepPointer, keepArgs, keepPointer | keepArgs} {
			once := respell(sym, parts)
			if len(once) > len(sym) {
				t.Errorf("respell(%q, %d) = %q grew", sym, parts, once)
			}
		}
	})
}
