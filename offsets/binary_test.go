package offsets

import (
	"fmt"
	"os"
	"os/exec"
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

// lookup returns a function by its name.
func lookup(t testing.TB, b *Binary, name string) *Func {
	t.Helper()
	f, ok := b.Lookup(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	return f
}

// signatureOf returns the signature of a function.
func signatureOf(t testing.TB, b *Binary, name string) *Signature {
	t.Helper()
	s, err := b.Signature(lookup(t, b, name))
	fixture.NoError(t, err)
	return s
}

// goTool opens the go command, which is the largest Go program that is always installed.
func goTool(t testing.TB) *Binary {
	t.Helper()
	path, err := exec.LookPath("go")
	fixture.NoError(t, err)
	return openPath(t, path)
}

// TestCallsOf checks that only the call of the given function is found.
func TestCallsOf(t *testing.T) {
	b := openFixture(t, "exact")
	from, to := lookup(t, b, "runtime.recovery"), lookup(t, b, "runtime.gogo")
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
	f := lookup(t, b, "main.leaf")
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
