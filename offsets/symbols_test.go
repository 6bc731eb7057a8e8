package offsets

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// library has every kind of symbol for functions.
const library = `
static int hidden(void) { return 1; }
int plain(void) { return hidden(); }
int weak(void) __attribute__((weak));
int weak(void) { return 2; }
int __libc_get(void) { return 3; }
int get(void) __attribute__((alias("__libc_get")));
int get_more(void) __attribute__((alias("__libc_get")));
static int fast(void) { return 4; }
static int (*choose(void))(void) { return fast; }
int chosen(void) __attribute__((ifunc("choose")));
int data = 5;
`

func buildLibrary(t *testing.T, flags ...string) *Binary {
	t.Helper()
	return buildC(t, library, append(flags, "-O1", "-fno-inline", "-shared", "-fPIC")...)
}

// buildC compiles and opens a C program.
func buildC(t *testing.T, text string, flags ...string) *Binary {
	t.Helper()
	dir := t.TempDir()
	source, path := filepath.Join(dir, "file.c"), filepath.Join(dir, "file")
	fixture.Write(t, source, text)
	args := append(flags, "-o", path, source)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Skipf("no C compiler: %v\n%s", err, out)
	}
	return openPath(t, path)
}

// TestDynamicSymbols checks the functions of a library and of a stripped one, which has only its exported functions, and that
// Lookup finds a function by all its names.
func TestDynamicSymbols(t *testing.T) {
	full, stripped := buildLibrary(t), buildLibrary(t, "-s")
	for _, c := range []struct {
		name, is       string // the function's name
		full, stripped bool
	}{
		{"plain", "plain", true, true},
		{"weak", "weak", true, true},
		{"get", "get", true, true},
		{"get_more", "get", true, true},
		{"__libc_get", "get", true, true},
		{"hidden", "hidden", true, false},
		{"choose", "choose", true, false}, // the resolver
		{"chosen", "", false, false},      // the IFUNC symbol
		{"data", "", false, false},
	} {
		f, ok := full.Lookup(c.name)
		if ok != c.full || ok && f.Name != c.is {
			t.Errorf("%s in the library: %+v", c.name, f)
		}
		s, ok := stripped.Lookup(c.name)
		if ok != c.stripped {
			t.Errorf("%s in the stripped library: %v", c.name, ok)
		}
		if f != nil && s != nil && (f.Name != s.Name || f.Addr != s.Addr || f.Size != s.Size || s.ABI != SystemV) {
			t.Errorf("%+v in the library, %+v stripped", f, s)
		}
	}
}

// TestMergeAliases checks that the chosen name does not depend on the order of the symbols.
func TestMergeAliases(t *testing.T) {
	name := func(text string, rank uint8) Func { return Func{Name: text, Addr: 16, Size: 1, rank: rank} }
	const local = 1
	for _, c := range []struct {
		name  string
		names []Func
		want  []string
	}{
		{"shortest", []Func{name("read64", fromSymtab), name("read", fromSymtab)}, []string{"read", "read64"}},
		{"no underscores", []Func{name("_IO_x", fromSymtab), name("fopenlonger", fromSymtab)}, []string{"fopenlonger", "_IO_x"}},
		{"global", []Func{name("a", fromSymtab+local), name("bb", fromSymtab)}, []string{"bb", "a"}},
		{"symtab before dynsym", []Func{name("a", fromDynsym), name("bb", fromSymtab)}, []string{"bb", "a"}},
		{"Go before C", []Func{name("crosscall2", fromDynsym), name("x.crosscall2", fromPclntab)}, []string{"x.crosscall2", "crosscall2"}},
		{"one name twice", []Func{name("a", fromDynsym), name("a", fromSymtab)}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				funcs := mergeAliases(slices.Clone(c.names))
				if len(funcs) != 1 || !slices.Equal(append([]string{funcs[0].Name}, funcs[0].aliases...), c.want) {
					t.Errorf("%+v, want %q", funcs, c.want)
				}
				slices.Reverse(c.names)
			}
		})
	}
	funcs := mergeAliases([]Func{{Name: "_c", Addr: 3}, {Name: "a", Addr: 1}, {Name: "b", Addr: 2}, {Name: "c", Addr: 3}, {Name: "a", Addr: 1, rank: local}, {Name: "d", Addr: 4}})
	if want := []Func{{Name: "a", Addr: 1}, {Name: "b", Addr: 2}, {Name: "c", aliases: []string{"_c"}, Addr: 3}, {Name: "d", Addr: 4}}; !reflect.DeepEqual(funcs, want) {
		t.Errorf("%+v, want %+v", funcs, want)
	}
}

// TestWithoutSize checks that an assembly function without a size ends at the end of its code, before data without a
// symbol, and that labels inside functions are neither functions nor ends of functions.
func TestWithoutSize(t *testing.T) {
	b := openPath(t, fixture.Compile(t, "gcc", "c/nosize.c", "-O1"))
	for name, want := range map[string]struct {
		size    uint64
		returns int
	}{"nosize": {4, 1}, "typed": {17, 1}, "sized": {4, 1}} {
		f := lookup(t, b, name)
		sites, err := b.Sites(f)
		if err != nil || f.Size != want.size || len(sites.Returns) != want.returns {
			t.Errorf("%s: %d bytes, %v", name, f.Size, err)
		}
	}
	for _, name := range []string{"within", "inner", "last", "table"} {
		if f, ok := b.Lookup(name); ok {
			t.Errorf("%s is at %#x", name, f.Addr)
		}
	}
	for _, f := range openPath(t, fixture.Build(t, "lines")).Funcs() {
		if f.Name == "runtime.etext" || f.Name == "runtime.text" {
			t.Errorf("%s, a marker of Go's linker, is at %#x", f.Name, f.Addr)
		}
	}
}

// TestDemangle checks that the linker's symbol becomes an alias.
func TestDemangle(t *testing.T) {
	funcs := []Func{
		{Name: "_Z3addii"},
		{Name: "_Z3addff"},
		{Name: "_Z3onei", aliases: []string{"_Z3twov", "also"}},
		{Name: "main.T.M", aliases: []string{"main.T.N"}},
	}
	want := []Func{
		{Name: "add(int, int)", aliases: []string{"_Z3addii"}},
		{Name: "add(float, float)", aliases: []string{"_Z3addff"}},
		{Name: "one", aliases: []string{"_Z3twov", "also", "two", "_Z3onei"}},
		{Name: "main.T.M", aliases: []string{"main.T.N"}},
	}
	demangle(funcs)
	for i, f := range funcs {
		if f.Name != want[i].Name || !slices.Equal(f.aliases, want[i].aliases) {
			t.Errorf("%q with aliases %q, want %q with %q", f.Name, f.aliases, want[i].Name, want[i].aliases)
		}
	}
}
