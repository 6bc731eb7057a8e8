package offsets

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// library is C source of every kind of symbol for functions.
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

// firstRegisters is the first minor version of Go that passes arguments in registers (amd64).
const firstRegisters = 17

func buildLibrary(t *testing.T, flags ...string) *Binary {
	t.Helper()
	dir := t.TempDir()
	source, path := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
	fixture.NoError(t, os.WriteFile(source, []byte(library), 0o644))
	args := append([]string{"-O1", "-fno-inline", "-shared", "-fPIC", "-o", path, source}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Skipf("no C compiler: %v\n%s", err, out)
	}
	return openPath(t, path)
}

// TestDynamicSymbols: a stripped library has the functions that it exports.
func TestDynamicSymbols(t *testing.T) {
	full, stripped := buildLibrary(t), buildLibrary(t, "-s")
	for _, c := range []struct {
		name           string
		full, stripped bool
	}{
		{"plain", true, true},
		{"weak", true, true},
		{"get", true, true},
		{"hidden", true, false},
		{"choose", true, false},  // the resolver, by its own name
		{"chosen", false, false}, // not by the name of what it chooses
		{"data", false, false},
	} {
		f, ok := full.Lookup(c.name)
		if ok != c.full {
			t.Errorf("%s in the library: %v", c.name, ok)
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

// TestAliases: of the names of one function one is chosen; the others find it too.
func TestAliases(t *testing.T) {
	b := buildLibrary(t)
	f, ok := b.Lookup("__libc_get")
	if !ok {
		t.Fatal("no __libc_get")
	}
	if f.Name != "get" || !slices.Equal(f.aliases, []string{"get_more", "__libc_get"}) {
		t.Errorf("%s, aliases %q", f.Name, f.aliases)
	}
	for _, name := range []string{"get", "get_more"} {
		if g, ok := b.Lookup(name); !ok || g != f {
			t.Errorf("%s is %+v, want %+v", name, g, f)
		}
	}
}

// TestTidy: the order of names does not depend on that of the tables.
func TestTidy(t *testing.T) {
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

// TestABI: a stripped binary tells assembly from Go and from wrappers.
func TestABI(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
				b := openPath(t, fixture.BuildWith(t, version, "exact", flags...))
				want := map[string]ABI{"main.leaf": ABIInternal, "runtime.gogo": ABI0, "runtime.memmove": ABI0, "runtime.newproc": ABIInternal}
				if b.goVer.Minor >= firstRegisters {
					want["runtime.newproc.abi0"] = ABI0 // called by rt0_go
				}
				for name, abi := range want {
					if b.goVer.Minor < firstRegisters {
						abi = ABI0
					}
					if f, ok := b.Lookup(name); !ok || f.ABI != abi {
						t.Errorf("%q: %s is %+v, want %v", flags, name, f, abi)
					}
				}
			}
		})
	}
}
