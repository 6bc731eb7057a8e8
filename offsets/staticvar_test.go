package offsets

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestStaticVariable checks the types of package variables, and compares their addresses with .symtab.
func TestStaticVariable(t *testing.T) {
	types := map[string]string{
		"main.counter": "int64", "main.name": "string", "main.cfg": "main.config", "main.list": "[]int",
		"main.failure": "error", "main.table": "map[string]int", "main.small": "[3]uint8",
	}
	for _, c := range []struct {
		name, version string
		flags         []string
		typed         bool
	}{
		{"Go 1.5", "1.5.4", nil, true},
		{"Go 1.16", "1.16.15", nil, true},
		{"DWARF 4", "1.24.6", nil, true},
		{"DWARF 5", fixture.Current, nil, true},
		{"position-independent", fixture.Current, []string{"-buildmode=pie"}, true},
		{"without debug information", fixture.Current, []string{"-ldflags=-w"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, c.version, "signatures", c.flags...))
			objects := make(map[string]image.Symbol)
			fixture.NoError(t, b.eachObject(func(s image.Symbol) { objects[s.Name] = s }))
			for name, want := range types {
				v, err := b.Internals().StaticVariable(name)
				if err != nil {
					t.Error(err)
					continue
				}
				symbol := objects[name]
				if v.Name != name || v.Err != nil || len(v.Pieces) != 1 || !v.Pieces[0].Static ||
					v.Pieces[0].Disp != int64(symbol.Addr) || v.Pieces[0].Size != int64(symbol.Size) {
					t.Errorf("%s: %+v, want %d bytes at %#x", name, v, symbol.Size, symbol.Addr)
				}
				if c.typed && v.Type.Name != want || !c.typed && v.Type.Kind != reflect.Invalid {
					t.Errorf("%s is of type %s, want %s", name, v.Type.Name, want)
				}
			}
			for _, name := range []string{"counter", "xyzzy.plugh"} {
				v, err := b.Internals().StaticVariable(name)
				if err == nil || err.Error() != "find variable "+name+": no such variable" {
					t.Errorf("%s: %+v, %v", name, v, err)
				}
			}
		})
	}
}

// TestStaticVariables checks that StaticVariable finds each name, with debug information and without.
func TestStaticVariables(t *testing.T) {
	if names, err := openFixture(t, "signatures", "-ldflags=-s -w").Internals().StaticVariables(); err == nil {
		t.Errorf("stripped: %q", names)
	}
	for _, flags := range []string{"", "-ldflags=-w"} {
		b := openFixture(t, "signatures", flagList(flags)...)
		names, err := b.Internals().StaticVariables()
		if err != nil || !slices.IsSorted(names) || !slices.Contains(names, "main.counter") || !slices.Contains(names, "runtime.sched") {
			t.Errorf("%q: %v, %d names, %.10q", flags, err, len(names), names)
		}
		for _, name := range names {
			if _, err := b.Internals().StaticVariable(name); err != nil {
				t.Error(err)
			}
		}
	}
}
