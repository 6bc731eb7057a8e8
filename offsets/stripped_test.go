package offsets

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// linkMode is a way to link a program.
type linkMode struct {
	name  string
	flags []string
	link  string
}

// build builds testdata/exact with a release of Go.
func (m *linkMode) build(t *testing.T, version, ldflags string) string {
	t.Helper()
	path, err := fixture.TryBuildWith(t, version, "exact", append(slices.Clone(m.flags), "-ldflags="+ldflags+m.link)...)
	if v, _ := gotab.ParseVersion("go" + version); err != nil && m.flags != nil && v.Minor > 0 && v.Minor < 15 {
		t.Skipf("the C compiler is too new for it: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStripped checks that a stripped binary, with or without section headers, has the same version, functions and
// sites as the unstripped one, and with the unstripped one as description the same names, types and lines. Releases
// before 1.13 have no build information.
func TestStripped(t *testing.T) {
	modes := []linkMode{
		{"executable", nil, ""},
		{"pie", []string{"-buildmode=pie"}, ""},
		{"external pie", []string{"-buildmode=pie"}, "-linkmode=external"},
		{"cgo", []string{"-tags=exactcgo"}, "-linkmode=external"},
		{"shared library", []string{"-buildmode=c-shared"}, ""},
	}
	versions := fixture.Releases()
	if !fixture.All() {
		versions = slices.Concat(versions, []string{"1.18.10", "1.22.12", "1.24.6"})
	}
	for _, version := range versions {
		for _, mode := range modes {
			t.Run(version+" "+mode.name, func(t *testing.T) {
				if mode.name != "executable" && mode.name != "pie" {
					fixture.NeedLong(t)
				}
				full, stripped := mode.build(t, version, ""), mode.build(t, version, "-s -w ")
				want := openPath(t, full)
				if len(want.Funcs()) < 1000 {
					t.Fatalf("only %d functions", len(want.Funcs()))
				}
				if minor, v := want.GoVersion(); minor == 0 || v != fixture.Release(version) {
					t.Errorf("version %d, %q", minor, v)
				}
				checkABI(t, want)
				compareTwins(t, want, openPath(t, stripped))
				compareTwins(t, want, openPath(t, fixture.Headless(t, stripped)))
				checkDescribed(t, stripped, want)
			})
		}
	}
}

const cgoSource = `package main

// #include <stdlib.h>
// #include <stdio.h>
// static int one(int x) { return x + 1; }
import "C"
import "unsafe"

func main() {
	s, b := C.CString("s"), C.CBytes([]byte("b"))
	defer C.free(unsafe.Pointer(s))
	n, err := C.one(3)
	println(n, err != nil, C.one(2), C.malloc(9) != nil, C.GoString(s), len(C.GoStringN(s, 1)), len(C.GoBytes(b, 1)), C.stderr != nil)
}
`

// TestStrippedCgo checks the ABIs of the functions that cgo generates.
func TestStrippedCgo(t *testing.T) {
	fixture.NeedCompiler(t, "gcc")
	compareTwins(t, openPath(t, buildText(t, cgoSource)), openPath(t, buildText(t, cgoSource, "-ldflags=-s -w")))
}

// checkABI checks the ABIs of functions in Go, in assembly, and of wrappers.
func checkABI(t *testing.T, b *Binary) {
	t.Helper()
	want := map[string]ABI{"main.leaf": ABIInternal, "runtime.gogo": ABI0, "runtime.memmove": ABI0, "runtime.newproc": ABIInternal}
	registers := b.goVer.Minor >= b.File().Processor.Machine().FirstRegisters
	if registers {
		want["runtime.newproc.abi0"] = ABI0 // called by rt0_go
	}
	for name, abi := range want {
		if !registers {
			abi = ABI0
		}
		if f, ok := b.Lookup(name); !ok || f.ABI != abi {
			t.Errorf("%s is %+v, want ABI %v", name, f, abi)
		}
	}
}

// compareTwins compares the Go functions of a binary with those of its stripped twin.
func compareTwins(t *testing.T, full, stripped *Binary) {
	t.Helper()
	if full.goVer.Text != stripped.goVer.Text {
		t.Errorf("Go version %v, stripped %v", full.goVer, stripped.goVer)
	}
	fixture.NoError(t, stripped.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) { t.Fatalf("the stripped twin has the symbol %s", s.Name) }))
	describe := func(b *Binary, f *Func) string {
		text := fmt.Sprintf("%s %d %#x+%d", elided(b, f.Name), f.ABI, f.Addr, f.Size)
		s, err := b.Sites(f)
		if err != nil {
			return text + " " + err.Error()
		}
		return text + fmt.Sprintf(" %v %v %v %v %v", s.Entry, s.Check, s.Restarts, s.Returns, s.Tails)
	}
	want := make(map[uint64]string)
	for i := range full.Funcs() {
		if f := &full.Funcs()[i]; f.ABI != SystemV {
			want[f.Addr] = describe(full, f)
		}
	}
	differ := 0
	for i := range stripped.Funcs() {
		f := &stripped.Funcs()[i]
		if f.ABI == SystemV {
			continue
		}
		if got := describe(stripped, f); got != want[f.Addr] {
			if differ++; differ < 10 {
				t.Errorf("stripped %s\n    full %s", got, want[f.Addr])
			}
		}
		delete(want, f.Addr)
	}
	for _, missing := range want {
		if differ++; differ < 10 {
			t.Errorf("missing from the stripped twin: %s", missing)
		}
	}
	if differ > 0 {
		t.Errorf("%d differences", differ)
	}
}

// elided returns a name as the function table of the binary's version of Go spells it.
func elided(b *Binary, name string) string {
	first, last := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if first < 0 || last < first || b.goVer.Minor < 18 || b.goVer.Minor > 20 {
		return name
	}
	return name[:first] + "[...]" + name[last+1:]
}

// TestGoVersionAmongTexts checks that of two texts that look like a version, the value of runtime.buildVersion is used.
func TestGoVersionAmongTexts(t *testing.T) {
	data, err := os.ReadFile(fixture.BuildWith(t, "1.12.17", "exact", "-ldflags=-s -w"))
	fixture.NoError(t, err)
	said, other := []byte("index out of range"), []byte("go1.9.1 is too old")
	if len(said) != len(other) || !bytes.Contains(data, said) {
		t.Fatalf("no %q to replace", said)
	}
	path := filepath.Join(t.TempDir(), "old")
	fixture.NoError(t, os.WriteFile(path, bytes.ReplaceAll(data, said, other), 0o755))
	if minor, v := openPath(t, path).GoVersion(); minor != 12 || v != "go1.12.17" {
		t.Errorf("%d, %q", minor, v)
	}
}

// TestNotGo checks that a C program with the text "go1.12.17" is not mistaken for Go.
func TestNotGo(t *testing.T) {
	b := buildC(t, `char *runtime_buildVersion = "go1.12.17"; int main(void) { return runtime_buildVersion[0]; }`)
	if minor, v := b.GoVersion(); minor > 0 {
		t.Errorf("a C program was built with %+v", v)
	}
	f, ok := b.Lookup("main")
	if !ok || f.ABI != SystemV {
		t.Errorf("main of a C program: %+v", f)
	}
}
