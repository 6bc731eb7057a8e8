package gotype_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestTypes(t *testing.T) {
	point := &gotype.Type{Name: "main.point", Kind: reflect.Struct, Size: 8, Align: 4}
	ours := func(name string) (*gotype.Type, bool) { return point, name == "main.point" }
	tests := []struct {
		text string
		kind reflect.Kind
		size int64
		elem string // name of the element type, "" if unknown
	}{
		{"int32", reflect.Int, 4, ""},
		{"ptr", reflect.UnsafePointer, 8, ""},
		{"main.point", reflect.Struct, 8, ""},
		{"*main.point", reflect.Pointer, 8, "main.point"},
		{"*main.other", reflect.Pointer, 8, ""},
		{"**net/http.Request", reflect.Pointer, 8, "*net/http.Request"},
		{"[]byte", reflect.Slice, 24, "byte"},
		{"[][]main.G[int]", reflect.Slice, 24, "[]main.G[int]"},
		{"...string", reflect.Slice, 24, "string"},
		{"...[]string", reflect.Slice, 24, "[]string"},
		{"[3]main.point", reflect.Array, 24, "main.point"},
		{"[0]int", reflect.Array, 0, "int"},
		{"map", reflect.Map, 8, ""},
		{"map[string]int", reflect.Map, 8, ""},
		{"chan", reflect.Chan, 8, ""},
		{"chan<- int", reflect.Chan, 8, ""},
		{"<-chan int", reflect.Chan, 8, ""},
		{"func", reflect.Func, 8, ""},
		{"func(int) error", reflect.Func, 8, ""},
		{"error", reflect.Interface, 16, ""},
		{"any", reflect.Interface, 16, ""},
		{"interface{}", reflect.Interface, 16, ""},
		{"interface { M() }", reflect.Interface, 16, ""},
		{"struct{}", reflect.Struct, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := gotype.Parse(tt.text, ours)
			fixture.NoError(t, err)
			elem := ""
			if e := got.Elem(); e != nil {
				elem = e.Name
			}
			if got.Kind != tt.kind || got.Size != tt.size || elem != tt.elem {
				t.Errorf("kind %d, size %d, leads to %q", got.Kind, got.Size, elem)
			}
			methods := slices.Contains([]string{"error", "interface { M() }"}, tt.text)
			if got.Methods != methods {
				t.Errorf("has methods: %v", got.Methods)
			}
		})
	}
}

func TestTypesOfPrograms(t *testing.T) {
	types := map[string]string{
		"main.point":       "struct 8/4 X@0 int32 Y@4 int32",
		"main.node":        "struct 16/8 Value@0 int Next@8 *main.node",
		"main.mixed":       "struct 16/8 B@0 bool I@1 int8 F@4 float32 P@8 *int",
		"main.empty":       "struct 0/1",
		"main.single":      "array 8/8 [1] of int",
		"main.config":      "struct 32/8 Name@0 string Limits@16 main.limits",
		"main.celsius":     "float64 8/8",
		"main.callback":    "func 8/8",
		"main.namer":       "interface 16/8 methods",
		"*main.node":       "ptr 8/8 of main.node",
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
		"unsafe.Pointer":   "unsafe.Pointer 8/8",
		"complex64":        "complex128 8/4",
	}
	for _, version := range []string{"1.5.4", "1.12.17", "1.16.15", "1.20.14", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := binaries.Open(t, fixture.BuildWith(t, version, "signatures", "-gcflags=-l"))
			for name, want := range types {
				got, err := gotype.Parse(name, b.Internals().TypeNamed)
				switch {
				case err != nil:
					t.Error(err)
				case fixture.SpellType(got) != want || got.Name != name:
					t.Errorf("%s: %s\n got %s\nwant %s", name, got.Name, fixture.SpellType(got), want)
				}
			}
			for _, name := range []string{"main.none", "", "[]", "main"} {
				if got, err := gotype.Parse(name, b.Internals().TypeNamed); err == nil {
					t.Errorf("%q: %s", name, fixture.SpellType(got))
				}
			}
		})
	}
	t.Run("without debug information", func(t *testing.T) {
		b := binaries.Open(t, fixture.Build(t, "signatures", "-ldflags=-w"))
		for name, known := range map[string]bool{"int": true, "[]*string": true, "main.point": false} {
			if _, err := gotype.Parse(name, b.Internals().TypeNamed); (err == nil) != known {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestMain(m *testing.M) { fixture.Main(m) }
