package offsets

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(mutantsVar); job != "" {
		if err := readMutants(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fixture.Main(m)
}

func openFixture(t testing.TB, name string, flags ...string) *Binary {
	t.Helper()
	return openPath(t, fixture.Build(t, name, flags...))
}

func openPath(t testing.TB, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// goTool is the largest Go binary that every machine with Go has.
func goTool(t testing.TB) *Binary {
	t.Helper()
	path, err := exec.LookPath("go")
	fixture.NoError(t, err)
	return openPath(t, path)
}

// TestRefusals: of all functions of a large binary next to none is refused, and each
// with a reason; sites are inside of their function.
func TestRefusals(t *testing.T) {
	b := goTool(t)
	refused := 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		s, err := b.Sites(f)
		if err != nil {
			refused++
			t.Logf("%s: %v", f.Name, err)
			continue
		}
		for _, site := range slices.Concat(begins(s), s.Returns, s.Tails) {
			off, err := b.File().FileOffset(site.Addr())
			if err != nil || site.Addr() < f.Addr || site.Addr() >= f.Addr+f.Size || off != site.Offset() {
				t.Errorf("%s: site %+v", f.Name, site)
			}
		}
	}
	if refused*200 > len(b.Funcs()) {
		t.Errorf("%d of %d functions refused: more than 0.5%%", refused, len(b.Funcs()))
	}
}

// TestCallsOf: the call is found, and no other.
func TestCallsOf(t *testing.T) {
	b := openFixture(t, "exact")
	from, ok1 := b.Lookup("runtime.recovery")
	to, ok2 := b.Lookup("runtime.gogo")
	if !ok1 || !ok2 {
		t.Fatal("no runtime.recovery or runtime.gogo")
	}
	calls, err := b.Internals().CallsOf(from, to)
	if err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v; want 1", len(calls), err)
	}
	code, err := b.code(from)
	fixture.NoError(t, err)
	if op := code[calls[0].Addr()-from.Addr]; op != 0xe8 {
		t.Errorf("opcode %#x is no call", op)
	}
	if none, err := b.Internals().CallsOf(to, from); err != nil || len(none) != 0 {
		t.Errorf("gogo calls recovery: %v, %v", none, err)
	}
}

func TestFuncAt(t *testing.T) {
	b := openFixture(t, "exact")
	f, ok := b.Lookup("main.leaf")
	if !ok {
		t.Fatal("no main.leaf")
	}
	for _, at := range []uint64{f.Addr, f.Addr + f.Size - 1} {
		if got, ok := b.FuncAt(at); !ok || got != f {
			t.Errorf("%#x is in %v, want main.leaf", at, got)
		}
	}
	if got, ok := b.FuncAt(f.Addr + f.Size); ok && got == f {
		t.Error("main.leaf has one byte too many")
	}
	if _, ok := b.FuncAt(0); ok {
		t.Error("there is a function at 0")
	}
}
