package offsets

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
)

var kindNames = map[reflect.Kind]string{
	reflect.Invalid: "unknown", reflect.Bool: "bool", reflect.Int: "int", reflect.Uint: "uint", reflect.Float64: "float",
	reflect.Complex128: "complex", reflect.Pointer: "pointer", reflect.UnsafePointer: "unsafe pointer", reflect.String: "string",
	reflect.Slice: "slice", reflect.Array: "array", reflect.Struct: "struct", reflect.Interface: "interface",
	reflect.Map: "map", reflect.Chan: "chan", reflect.Func: "func",
}

// spellType is a type in one line: kind, size, alignment, elements, fields.
func spellType(t *gotype.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d", kindNames[t.Kind], t.Size, t.Align)
	if t.Kind == reflect.Array {
		fmt.Fprintf(&b, " [%d]", t.Len)
	}
	if t.Methods {
		b.WriteString(" methods")
	}
	if elem := t.Elem(); elem != nil {
		fmt.Fprintf(&b, " of %s", elem.Name)
	}
	for _, f := range t.Fields {
		fmt.Fprintf(&b, " %s@%d %s", f.Name, f.Offset, f.Type.Name)
		if f.Embedded {
			b.WriteString("!")
		}
	}
	return b.String()
}

func TestTypeNamed(t *testing.T) {
	types := map[string]string{
		"main.point":       "struct 8/4 X@0 int32 Y@4 int32",
		"main.node":        "struct 16/8 Value@0 int Next@8 *main.node",
		"main.mixed":       "struct 16/8 B@0 bool I@1 int8 F@4 float32 P@8 *int",
		"main.empty":       "struct 0/1",
		"main.single":      "array 8/8 [1] of int",
		"main.config":      "struct 32/8 Name@0 string Limits@16 main.limits",
		"main.celsius":     "float 8/8",
		"main.callback":    "func 8/8",
		"main.namer":       "interface 16/8 methods",
		"*main.node":       "pointer 8/8 of main.node",
		"[]main.node":      "slice 24/8 of main.node",
		"[]string":         "slice 24/8 of string",
		"[]interface {}":   "slice 24/8 of interface {}",
		"[2]int32":         "array 8/4 [2] of int32",
		"map[string]int":   "map 8/8 of int",
		"chan<- int":       "chan 8/8 of int",
		"time.Duration":    "int 8/8",
		"func(int) string": "func 8/8",
		"error":            "interface 16/8 methods",
		"interface {}":     "interface 16/8",
		"unsafe.Pointer":   "unsafe pointer 8/8",
		"complex64":        "complex 8/4",
	}
	for _, version := range []string{"1.5.4", "1.12.17", "1.16.15", "1.20.14", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "signatures", "-gcflags=-l"))
			for name, want := range types {
				got, err := givenType(name, b.typeNamed)
				switch {
				case err != nil:
					t.Error(err)
				case spellType(got) != want || got.Name != name:
					t.Errorf("%s: %s\n got %s\nwant %s", name, got.Name, spellType(got), want)
				}
			}
			for _, name := range []string{"main.none", "", "[]", "main"} {
				if got, err := givenType(name, b.typeNamed); err == nil {
					t.Errorf("%q: %s", name, spellType(got))
				}
			}
		})
	}
	t.Run("without debug information", func(t *testing.T) {
		b := openFixture(t, "signatures", "-ldflags=-w")
		for name, known := range map[string]bool{"int": true, "[]*string": true, "main.point": false} {
			if _, err := givenType(name, b.typeNamed); (err == nil) != known {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestGccgoTypes: gccgo's strings, slices and interfaces are known by their structs.
func TestGccgoTypes(t *testing.T) {
	b := openPath(t, fixture.Compile(t, "gccgo", "signatures/main.go", "-g", "-O1", filepath.Join(fixture.Root(), "testdata/signatures/generics_none.go")))
	want := map[string][]string{
		"main.text":       {"string: string 16/8", "int: int 8/8"},
		"main.slices":     {"[]uint8: slice 24/8 of uint8", "[]string: slice 24/8 of string"},
		"main.references": {"map: map 8/8", "chan: chan 8/8", "main.callback: func 8/8", "error: interface 16/8 methods", "main.namer: interface 16/8 methods", "interface {}: interface 16/8", "Pointer: unsafe pointer 8/8"},
		"main.variadic":   {"string: string 16/8", "[]interface {}: slice 24/8 of interface {}"},
		"main.node.Name":  {"*main.node: pointer 8/8 of main.node"},
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
			got = append(got, v.Type.Name+": "+spellType(v.Type))
		}
		if strings.Join(got, "\n") != strings.Join(types, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", name, got, types)
		}
	}
}
