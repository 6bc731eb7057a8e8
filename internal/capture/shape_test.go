package capture

import (
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
)

// TestShapes checks that a value of generic code gets the type in the dictionary if that has the value's shape.
func TestShapes(t *testing.T) {
	m := newMachine()
	m.types[0x6600] = &gotype.Type{Name: "time.Duration", Kind: reflect.Int, Size: 8, Align: 8}
	m.types[0x6700] = gotype.PointerTo(inner.Named("main.other"))
	m.put(0x1c000, 0x6600, 0x6300, 0, 0x6700, 0x6900)
	pointer := &gotype.Type{Name: "go.shape.*uint8", Kind: reflect.Pointer, Size: 8, Align: 8}
	holds := func(name string, t *gotype.Type) *gotype.Type {
		return &gotype.Type{Name: name, Kind: reflect.Struct, Size: 8, Align: 8, Fields: []gotype.Field{{Name: "V", Type: t}}}
	}
	m.types[0x6900] = holds("main.box[*main.inner]", gotype.PointerTo(inner))
	number := basic("int").Named("go.shape.int")
	for _, c := range []struct {
		name     string
		typ      *gotype.Type
		word     uint64
		entry    int64
		want, as string
	}{
		{"number", number, 5, 0, "5ns", "time.Duration"},
		{"pointer", pointer, 0x11000, 1, `&{n:7 name:"hello"}`, "*main.inner"},
		{"nil", pointer, 0, 1, "nil", "*main.inner"},
		{"pointer to nothing", pointer, 0x99000, 1, "&<unreadable: no valid pointer>", "*main.inner"},
		{"no type", pointer, 0x11000, 2, "0x11000", "go.shape.*uint8"},
		{"type of another shape", pointer, 0x11000, 0, "0x11000", "go.shape.*uint8"},
		{"pointer of known shape", gotype.PointerTo(inner), 0x11000, 3, `&{n:7 name:"hello"}`, "*main.other"},
		{"in a struct", holds("main.box[go.shape.*uint8]", pointer), 0x11000, 4, "{V:*main.inner(0x11000)}", "main.box[*main.inner]"},
		{"nil in a struct", holds("main.box[go.shape.*uint8]", pointer), 0, 4, "{V:nil}", "main.box[*main.inner]"},
		{"in a struct of no type", holds("main.box[go.shape.*uint8]", pointer), 0x11000, 2, "{V:0x11000}", "main.box[go.shape.*uint8]"},
		{"believed in a struct", holds("main.box[uint8]", gotype.PointerTo(basic("uint8"))), 0x11000, 4, "{V:0x11000}", "main.box[*main.inner]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.registers = map[string]uint64{"ax": 0x1c000, "bx": c.word}
			v, word := inRegisters("v", c.typ, "bx"), inRegisters("", basic("uintptr"), "ax")
			word.Through = []int64{8 * c.entry}
			v.Real = &word
			checkAs(t, m, v, c.want, c.as)
		})
	}
}

// TestShapesAmong checks that the receiver of a generic method gets the first type among the words of the dictionary.
func TestShapesAmong(t *testing.T) {
	m := newMachine()
	m.types[0x6600] = gotype.PointerTo(inner.Named("lib.inner[main.user]"))
	m.types[0x6700] = inner.Named("lib.inner[int]")
	m.types[0x6800] = gotype.PointerTo(inner.Named("lib.outer[int]"))
	receiver := &gotype.Type{Name: "*inner.inner[go.shape.int]", Kind: reflect.Pointer, Size: 8, Align: 8}
	words := &gotype.Type{Name: "[4]uintptr", Kind: reflect.Array, Size: 32, Align: 8, Len: 4}
	for _, c := range []struct {
		name     string
		words    []uint64
		want, as string
	}{
		{"pointer", []uint64{0x401000, 0x1c800, 0x6600, 0x6800}, `&{n:7 name:"hello"}`, "*lib.inner[main.user]"},
		{"value", []uint64{0x6700, 0x6800, 0, 0}, `&{n:7 name:"hello"}`, "*lib.inner[int]"},
		{"another", []uint64{0x401000, 0x6800, 0x6600, 0}, "0x11000", receiver.Name},
		{"none", []uint64{1, 2, 3, 0}, "0x11000", receiver.Name},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.put(0x1c000, c.words...)
			m.registers = map[string]uint64{"ax": 0x11000, "bx": 0x1c000}
			v, dictionary := inRegisters("v", receiver, "ax"), inRegisters("", words, "bx")
			dictionary.Pieces[0].Size, dictionary.Through = 8, []int64{0}
			v.Real = &dictionary
			checkAs(t, m, v, c.want, c.as)
		})
	}
}

// TestShapesWithout checks that, without a dictionary, as for results, a pointer's target is not decoded.
func TestShapesWithout(t *testing.T) {
	m := newMachine()
	m.registers = map[string]uint64{"ax": 0x11000}
	pointer := &gotype.Type{Name: "T", Kind: reflect.Pointer, Size: 8, Align: 8, Dictionary: 3}
	v := inRegisters("r0", pointer, "ax")
	checkAs(t, m, v, "0x11000", "T")
}

// checkAs checks the text of a variable's value, and the name of its type.
func checkAs(t *testing.T, m *machine, v offsets.Variable, want, as string) {
	t.Helper()
	for _, paths := range [][]string{nil, {v.Name}} {
		capture, err := NewBuilder([]offsets.Variable{v}, options).Capture(paths, nil)
		fixture.NoError(t, err)
		values := capture.AppendValues(nil, m.fetch(t, capture.Args), m)
		if got := values[0].Text(); got != want || values[0].Type.Name != as {
			t.Errorf("paths %q: got %s of %s, want %s of %s; fetched %s", paths, got, values[0].Type.Name, want, as, fetched(capture))
		}
	}
}
