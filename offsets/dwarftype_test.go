package offsets

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestGccgoTypes: gccgo's strings, slices and interfaces are known by their structs.
func TestGccgoTypes(t *testing.T) {
	b := openPath(t, fixture.Compile(t, "gccgo", "signatures/main.go", "-g", "-O1", filepath.Join(fixture.Root(), "testdata/signatures/generics_none.go")))
	want := map[string][]string{
		"main.text":       {"string: string 16/8", "int: int 8/8"},
		"main.slices":     {"[]uint8: slice 24/8 of uint8", "[]string: slice 24/8 of string"},
		"main.references": {"map: map 8/8", "chan: chan 8/8", "main.callback: func 8/8", "error: interface 16/8 methods", "main.namer: interface 16/8 methods", "interface {}: interface 16/8", "Pointer: unsafe.Pointer 8/8"},
		"main.variadic":   {"string: string 16/8", "[]interface {}: slice 24/8 of interface {}"},
		"main.node.Name":  {"*main.node: ptr 8/8 of main.node"},
	}
	for name, types := range want {
		f, ok := b.Lookup(name)
		if !ok {
			t.Errorf("no function %s", name)
			continue
		}
		s, err := b.Signature(f)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, v := range s.Params {
			got = append(got, v.Type.Name+": "+fixture.SpellType(v.Type))
		}
		if strings.Join(got, "\n") != strings.Join(types, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", name, got, types)
		}
	}
}
