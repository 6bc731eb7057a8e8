package offsets

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWithoutSize: functions of assembly that do not say how long they are end where their code does, before data that
// has no symbol; labels within a function are none, and cut none in two.
func TestWithoutSize(t *testing.T) {
	b := openPath(t, fixture.Compile(t, "gcc", "c/nosize.c", "-O1"))
	for name, want := range map[string]struct {
		size    uint64
		returns int
	}{"nosize": {4, 1}, "typed": {17, 1}, "sized": {4, 1}} {
		f, ok := b.Lookup(name)
		if !ok {
			t.Errorf("no function %s", name)
			continue
		}
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
			t.Errorf("%s, a mark of Go's linker, is at %#x", f.Name, f.Addr)
		}
	}
}
