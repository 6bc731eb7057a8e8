package offsets

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestFramesAgainstRuntime asks the runtime for the innermost function, file and line of
// each address in this test's own code, inlined functions and all.
func TestFramesAgainstRuntime(t *testing.T) {
	b, err := Open("/proc/self/exe")
	fixture.NoError(t, err)
	defer b.Close()
	asked, inlined := 0, 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if f.ABI != ABIInternal || b.File().Relocatable() {
			continue
		}
		// Of the address behind the last byte the runtime tells what begins there.
		for at := f.Addr; at+1 < f.Addr+f.Size; at += 1 + f.Size/20 {
			want, _ := runtime.CallersFrames([]uintptr{uintptr(at) + 1}).Next()
			if want.Function == "" || want.Line == 0 {
				continue // its name is the first of the table, which the runtime takes for none; or it is the linker's
			}
			got := b.Internals().Frames(at)
			if len(got) == 0 {
				t.Fatalf("%#x in %s: no frames", at, f.Name)
			}
			asked++
			if len(got) > 1 {
				inlined++
			}
			inner := got[0]
			if plainArgs(inner.Function) != plainArgs(want.Function) || inner.File != want.File || inner.Line != want.Line {
				t.Errorf("%#x in %s: %+v, the runtime says %s %s:%d", at, f.Name, inner, want.Function, want.File, want.Line)
			}
			if t.Failed() {
				return
			}
		}
	}
	if asked < 10_000 || inlined < 1000 {
		t.Errorf("%d addresses, %d in inlined functions: too few to tell anything", asked, inlined)
	}
}

// plainArgs spells a name as both do: type arguments as "[...]", and without the ABI.
func plainArgs(name string) string {
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open >= 0 && end > open {
		name = name[:open] + "[...]" + name[end+1:]
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, ".abi0"), "·", ".")
}

// TestLinkAt: Go's frames have the size that the table of stack depths says, C's are
// linked or not as they were compiled.
func TestLinkAt(t *testing.T) {
	for _, c := range []struct {
		flag string
		bare bool
	}{{"-fno-omit-frame-pointer", false}, {"-fomit-frame-pointer", true}} {
		b, err := Open(fixture.Compile(t, "gcc", "c/flow.c", "-O1", c.flag))
		fixture.NoError(t, err)
		defer b.Close()
		f := lookup(t, b, "main")
		// Its last byte but the epilogue's is behind the prologue.
		if _, sized, bare := b.Internals().LinkAt(f.Addr + f.Size/2); sized || bare != c.bare {
			t.Errorf("%s: sized %v, bare %v, want %v", c.flag, sized, bare, c.bare)
		}
	}
	b, err := Open(fixture.Build(t, "stacks", "-ldflags", "-s -w"))
	fixture.NoError(t, err)
	defer b.Close()
	f := lookup(t, b, "main.framed1")
	if size, sized, _ := b.Internals().LinkAt(f.Addr); size != 0 || !sized {
		t.Errorf("where main.framed1 begins: %d bytes to the return address, known: %v", size, sized)
	}
	if size, sized, _ := b.Internals().LinkAt(f.Addr + f.Size/2); size < 16 || size%8 != 0 || !sized {
		t.Errorf("in main.framed1: %d bytes to the return address, known: %v", size, sized)
	}
	if _, sized, bare := b.Internals().LinkAt(0); sized || bare {
		t.Errorf("at address 0: sized %v, bare %v", sized, bare)
	}
	if got := b.Internals().Frames(0); got != nil {
		t.Errorf("at address 0: %v", got)
	}
}

func TestBuildID(t *testing.T) {
	target := fixture.Build(t, "flood", "-ldflags", "-B none")
	want, err := exec.Command("go", "tool", "buildid", target).Output()
	fixture.NoError(t, err)
	gnu := fixture.Build(t, "flood", "-ldflags", "-B 0x0123456789abcdef")
	none := append([]byte(nil), readFile(t, target)...)
	if i := strings.Index(string(none), "\x04\x00\x00\x00Go\x00\x00"); i >= 0 {
		none[i] = 9 // another type of note
	}
	broken := append([]byte(nil), readFile(t, target)...)
	if i := strings.Index(string(broken), "\x04\x00\x00\x00Go\x00\x00"); i >= 4 {
		copy(broken[i-4:], "\xff\xff\xff\xff") // longer than the file
	}
	for _, c := range []struct{ name, path, want string }{
		{"Go", target, strings.TrimSpace(string(want))},
		{"GNU", gnu, "0123456789abcdef"},
		{"none", writeFile(t, none), ""},
		{"damaged", writeFile(t, broken), ""},
	} {
		b, err := Open(c.path)
		fixture.NoError(t, err)
		defer b.Close()
		if got := b.File().BuildID(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	fixture.NoError(t, err)
	return data
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := t.TempDir() + "/file"
	fixture.NoError(t, os.WriteFile(path, data, 0o755))
	return path
}
