package offsets

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestFramesAgainstRuntime compares the innermost function, file and line of addresses in the test binary, including
// inlined functions, with the runtime's.
func TestFramesAgainstRuntime(t *testing.T) {
	b := openPath(t, "/proc/self/exe")
	asked, inlined := 0, 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if f.ABI != ABIInternal || b.File().Relocatable() {
			continue
		}
		// For the address after the last byte, the runtime returns the next function.
		for at := f.Addr; at+1 < f.Addr+f.Size; at += 1 + f.Size/20 {
			want, _ := runtime.CallersFrames([]uintptr{uintptr(at) + 1}).Next()
			if want.Function == "" || want.Line == 0 {
				continue // the first name of the table, which the runtime treats as no name, or a function of the linker
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

// plainArgs returns a name with type arguments as "[...]" and without the ABI suffix.
func plainArgs(name string) string {
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open >= 0 && end > open {
		name = name[:open] + "[...]" + name[end+1:]
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, ".abi0"), "·", ".")
}

// TestLinkAt checks the sizes of Go's frames, and whether C's have a frame pointer.
func TestLinkAt(t *testing.T) {
	for _, c := range []struct {
		flag string
		bare bool
	}{{"-fno-omit-frame-pointer", false}, {"-fomit-frame-pointer", true}} {
		b := openPath(t, fixture.Compile(t, "gcc", "c/flow.c", "-O1", c.flag))
		f := lookup(t, b, "main")
		// The middle of the function is after the prologue.
		if _, sized, bare := b.Internals().LinkAt(f.Addr + f.Size/2); sized || bare != c.bare {
			t.Errorf("%s: sized %v, bare %v, want %v", c.flag, sized, bare, c.bare)
		}
	}
	b := openPath(t, fixture.Build(t, "stacks", "-ldflags", "-s -w"))
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
	data, err := os.ReadFile(target)
	fixture.NoError(t, err)
	note := bytes.Index(data, []byte("\x04\x00\x00\x00Go\x00\x00")) // its type and name, after the size of the descriptor
	changed := func(at int, to string) string {
		path := filepath.Join(t.TempDir(), "file")
		fixture.Write(t, path, string(data[:at])+to+string(data[at+len(to):]))
		return path
	}
	for _, c := range []struct{ name, path, want string }{
		{"Go", target, strings.TrimSpace(string(want))},
		{"GNU", gnu, "0123456789abcdef"},
		{"none", changed(note, "\x09"), ""},
		{"damaged", changed(note-4, "\xff\xff\xff\xff"), ""},
	} {
		if got := openPath(t, c.path).File().BuildID(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
