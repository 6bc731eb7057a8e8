package capture

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// TestKeyWithoutRoom checks that no key of the map is reported as missing, however few arguments the event has room for.
func TestKeyWithoutRoom(t *testing.T) {
	m := newMachine()
	m.registers = map[string]uint64{"ax": 0x1a000, "bx": 0x1c000}
	m.put(0x1c000, 1, 0, 0x1c100, 0)
	m.put(0x1c100, 0x80_80_80_80_80_80_01_80, 0, 0, 0, 0, 0, 0x10000, 5, 0x1c300, 1, 1)
	m.put(0x1c300, 0x10000, 5)
	lists := mapOf(structOf("group", 328, gotype.Field{Name: "ctrl", Type: basic("uint64")},
		gotype.Field{Name: "slots", Offset: 8, Type: arrayOf(8, structOf("slot", 40, gotype.Field{Name: "key", Type: basic("string")},
			gotype.Field{Name: "elem", Offset: 16, Type: gotype.SliceOf(basic("string"))}))}))
	vars := []offsets.Variable{inRegisters("v", swissMap, "ax"), inRegisters("l", lists, "bx")}
	want := map[string]string{
		`v["hello"]`: "7", `v["hell"]`: "10", `v["help"]`: "<unreadable: no such key>",
		`l["hello"]`: `["hello"]`, `l["hello"][0]`: `"hello"`, `l["help"]`: "<unreadable: no such key>", `l["help"][0]`: "<unreadable: no such key>",
	}
	paths := slices.Sorted(maps.Keys(want))
	found := 0
	for _, arrays := range []bool{true, false} {
		for taken := range maxArgs {
			opt := options
			opt.Arrays, opt.OtherArgs = arrays, make([]tracefs.Arg, taken)
			capture, err := NewBuilder(vars, opt).Capture(paths, nil)
			fixture.NoError(t, err)
			for _, v := range capture.AppendValues(nil, m.fetch(t, capture.Args), m) {
				got := v.Text()
				if v.State != Unfetched && got != want[v.Name] && !partly(&v) {
					t.Errorf("%d arguments taken, arrays %v: %s is %s, want %s", taken, arrays, v.Name, got, want[v.Name])
				} else if v.State != Unfetched {
					found++
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d values were fetched", found)
	}
}

// partly reports whether a part of a value was not fetched.
func partly(v *Value) bool {
	return v.Cut() || slices.ContainsFunc(v.Items, func(item Value) bool { return partly(&item) })
}

// TestAssertPointer checks that a type assertion does not change the type of a pointer if that is known.
func TestAssertPointer(t *testing.T) {
	m := newMachine()
	opt := options
	opt.Type = m.typeNamed
	for _, c := range []struct {
		typ  *gotype.Type
		want string
	}{
		{gotype.PointerTo(outer), "*main.outer is not an interface"},
		{swissMap, "map is not an interface"},
		{gotype.PointerTo(&gotype.Type{Name: "?"}), ""},
		{basic("unsafe.Pointer"), ""},
	} {
		_, err := NewBuilder([]offsets.Variable{inRegisters("v", c.typ, "ax")}, opt).Capture([]string{"v.(*main.inner).n"}, nil)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.typ.Name, err, c.want)
		}
	}
}

// TestUnknownMap checks that keys in a map with another layout are refused.
func TestUnknownMap(t *testing.T) {
	pair := structOf("pair", 16, gotype.Field{Name: "a", Type: basic("int")}, gotype.Field{Name: "b", Offset: 8, Type: basic("int")})
	m := mapOf(structOf("group", 200, gotype.Field{Name: "ctrl", Type: basic("uint64")},
		gotype.Field{Name: "keys", Offset: 8, Type: arrayOf(8, pair)}, gotype.Field{Name: "elems", Offset: 136, Type: arrayOf(8, basic("int"))}))
	_, err := NewBuilder([]offsets.Variable{inRegisters("v", m, "ax")}, options).Capture([]string{"v[7]"}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "how map has its elements is not known") {
		t.Errorf("%v", err)
	}
}

// TestFarFromPointer checks that a value can be unreadable although the address in the pointer before it is readable.
func TestFarFromPointer(t *testing.T) {
	m := newMachine()
	m.registers = map[string]uint64{"ax": 0x14000, "bx": 0x14000}
	for _, typ := range []string{"int", "string"} {
		for _, through := range [][]int64{{1 << 20}, {-1 << 16}, {1 << 20, 0}} {
			v := inRegisters("v", basic("uintptr"), "ax")
			v.Type, v.Through = basic(typ), through
			capture, err := NewBuilder([]offsets.Variable{v}, options).Capture(nil, nil)
			fixture.NoError(t, err)
			values := capture.AppendValues(nil, m.fetch(t, capture.Args), m)
			if got := values[0].Text(); got != "<unreadable: "+badPointer+">" {
				t.Errorf("%s at %d: %s", typ, through, got)
			}
		}
	}
}
