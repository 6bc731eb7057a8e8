package capture

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

func basic(name string) *gotype.Type {
	t, ok := gotype.Basic(name)
	if !ok {
		panic(name)
	}
	return t
}

// inRegisters returns a variable whose words are in registers.
func inRegisters(name string, t *gotype.Type, registers ...arch.Reg) offsets.Variable {
	v := offsets.Variable{Name: name, Type: t}
	for i, r := range registers {
		v.Pieces = append(v.Pieces, offsets.Piece{Offset: int64(8 * i), Size: min(8, t.Size-int64(8*i)), Register: r})
	}
	return v
}

// onStack returns a variable in memory above the stack pointer.
func onStack(name string, t *gotype.Type, disp int64) offsets.Variable {
	return offsets.Variable{Name: name, Type: t, Pieces: []offsets.Piece{{Size: t.Size, Register: "sp", InMemory: true, Disp: disp}}}
}

func structOf(name string, size int64, fields ...gotype.Field) *gotype.Type {
	return &gotype.Type{Name: name, Kind: reflect.Struct, Size: size, Align: 8, Fields: fields}
}

// inner is a struct that other types contain and point to.
var inner = structOf("main.inner", 24, gotype.Field{Name: "n", Type: basic("int32")}, gotype.Field{Name: "name", Offset: 8, Type: basic("string")})

var outer = structOf("main.outer", 40,
	gotype.Field{Name: "in", Type: gotype.PointerTo(inner)},
	gotype.Field{Name: "items", Offset: 8, Type: gotype.SliceOf(inner)},
	gotype.Field{Name: "inner", Offset: 32, Type: gotype.PointerTo(inner), Embedded: true})

func TestFetch(t *testing.T) {
	for _, c := range []struct {
		name  string
		v     offsets.Variable
		paths []string
		want  string
	}{
		{"numbers", inRegisters("n", basic("uint8"), "ax"), nil, "%ax:s64"},
		{"number on the stack", onStack("n", basic("int32"), 8), nil, "+8(%sp):s64"},
		{"string", inRegisters("s", basic("string"), "ax", "bx"), nil, "%ax:s64 %bx:s64 +0(%ax):x64[2]"},
		{"string without arrays, nor x64 before Linux 4.9", inRegisters("s", basic("string"), "ax", "bx"), nil, "%ax:s64 %bx:s64 +0(%ax):u64 +8(%ax):u64"},
		{"string on the stack", onStack("s", basic("string"), 16), nil, "+16(%sp):s64 +24(%sp):s64 +0(+16(%sp)):x64[2]"},
		{"slice of numbers", inRegisters("s", gotype.SliceOf(basic("int16")), "ax", "bx", "cx"), nil, "%ax:s64 %bx:s64 %cx:s64 +0(%ax):x64[1]"},
		{"slice of strings", inRegisters("s", gotype.SliceOf(basic("string")), "ax", "bx", "cx"), nil,
			"%ax:s64 %bx:s64 %cx:s64 +0(%ax):s64 +8(%ax):s64 +0(+0(%ax)):x64[2] +16(%ax):s64 +24(%ax):s64 +0(+16(%ax)):x64[2]"},
		{"pointer to a struct", inRegisters("p", gotype.PointerTo(inner), "ax"), nil, "%ax:s64 +0(%ax):s64 +8(%ax):s64 +16(%ax):s64 +0(+8(%ax)):x64[2]"},
		{"path through pointers", inRegisters("p", gotype.PointerTo(outer), "ax"), []string{"p.in.n"}, "%ax:s64 +0(%ax):s64 +0(+0(%ax)):s64"},
		{"path into a slice", inRegisters("p", gotype.PointerTo(outer), "ax"), []string{"p.items[1].n"}, "%ax:s64 +16(%ax):s64 +8(%ax):s64 +24(+8(%ax)):s64"},
		{"promoted field", inRegisters("p", gotype.PointerTo(outer), "ax"), []string{"p.n"}, "%ax:s64 +32(%ax):s64 +0(+32(%ax)):s64"},
		{"error", inRegisters("err", basic("error"), "ax", "bx"), nil,
			"%ax:s64 +8(%ax):s64 %bx:s64 +0(%bx):x64[6] +0(+0(%bx)):x64[2] +0(+8(%bx)):x64[2] +0(+16(%bx)):x64[2] +0(+24(%bx)):s64 +0(+40(%bx)):s64"},
		{"captured by reference", offsets.Variable{Name: "n", Type: basic("int"), Pieces: []offsets.Piece{{Size: 8, Register: "dx", InMemory: true, Disp: 8, Pointer: true}}}, nil,
			"+8(%dx):s64 +0(+8(%dx)):s64"},
		{"package variable", offsets.Variable{Name: "n", Type: basic("int"), Pieces: []offsets.Piece{{Size: 8, Static: true, Disp: 0x1000}}}, nil, "@0x1000:s64"},
		{"float in a register", offsets.Variable{Name: "f", Type: basic("float64"), Pieces: []offsets.Piece{{Size: 8}}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := options
			opt.Arrays = !strings.Contains(c.name, "without arrays")
			b := NewBuilder([]offsets.Variable{c.v}, opt)
			b.fixedOrder = true // to compare the fetchargs in the order of planning
			got, err := b.Capture(c.paths, nil)
			fixture.NoError(t, err)
			if text := fetched(got); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

var options = Options{
	Limits: Limits{StrLen: 16, Items: 2}, Features: tracefs.Features{Arrays: true, Memory: true}, Machine: amd64.Processor.Machine(),
	Static: func(va uint64) string { return fmt.Sprintf("@%#x", va) },
}

func fetched(c *Capture) string {
	var out []string
	for _, a := range c.Args {
		out = append(out, a.Fetch+":"+a.Type)
	}
	return strings.Join(out, " ")
}

// TestRoom checks that the arguments stay within the kernel's limits.
func TestRoom(t *testing.T) {
	var vars []offsets.Variable
	for i := range 200 {
		vars = append(vars, onStack(fmt.Sprint("s", i), gotype.SliceOf(basic("string")), int64(24*i)))
	}
	opt := options
	opt.StrLen, opt.Items = 512, 64
	c, err := NewBuilder(vars, opt).Capture(nil, nil)
	fixture.NoError(t, err)
	if len(c.Args) > maxArgs || 8*c.Words > 2*maxBytes {
		t.Errorf("%d arguments, %d words", len(c.Args), c.Words)
	}
	for _, a := range c.Args {
		if n := len(a.Name + "=" + a.Fetch + ":" + a.Type); n > 63 {
			t.Errorf("%s: %d bytes", a, n)
		}
	}
	last := c.AppendValues(nil, make([]uint64, c.Words), nowhere{})[199]
	if last.State != Unfetched || !strings.Contains(last.Reason, "no room") {
		t.Errorf("the last variable: %+v", last)
	}
}

// TestFields checks that large structs are fetched in part, and not at all behind a pointer, unless a path selects them.
func TestFields(t *testing.T) {
	opt := options
	opt.Fields = 1
	inside := structOf("main.inside", 8, gotype.Field{Name: "to", Type: gotype.PointerTo(outer)}) // it has few fields itself
	vars := []offsets.Variable{inRegisters("p", gotype.PointerTo(outer), "ax"), inRegisters("n", basic("int"), "bx"), inRegisters("i", inside, "cx")}
	c, err := NewBuilder(vars, opt).Capture(nil, nil)
	fixture.NoError(t, err)
	if got := fetched(c); strings.Contains(got, "+") {
		t.Errorf("got %s", got)
	}
	words := make([]uint64, c.Words)
	for i := range words {
		words[i] = 0xc000012340
	}
	if v := c.AppendValues(nil, words, nowhere{})[0]; v.Dynamic != "*main.outer" || v.Elem != nil {
		t.Errorf("%+v", v)
	}
	if c, err = NewBuilder(vars, opt).Capture([]string{"*p"}, nil); err != nil || !strings.Contains(fetched(c), "+") {
		t.Errorf("%v, %s", err, fetched(c))
	}
}

func TestPathErrors(t *testing.T) {
	vars := []offsets.Variable{inRegisters("p", gotype.PointerTo(outer), "ax"), inRegisters("n", basic("int"), "bx"), {Name: "x", Type: basic("int"), Err: errors.New("lost")}}
	for path, want := range map[string]string{
		"q":           `no variable "q" (want p, n, x)`,
		"n.a":         `int has no fields ("a")`,
		"p.none":      `main.outer has no field "none"`,
		"p.itms":      `main.outer has no field "itms": did you mean items?`,
		"n[0]":        "int has no elements",
		"*n":          "int is not a pointer",
		"p.items[0]x": `[ or . expected`,
	} {
		if _, err := NewBuilder(vars, options).Capture([]string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	c, err := NewBuilder(vars, options).Capture([]string{"x", "p.n", "*p"}, nil)
	fixture.NoError(t, err)
	if got := c.AppendValues(nil, make([]uint64, c.Words), nowhere{}); got[0].Reason != "lost" || got[1].Reason != nilPointer {
		t.Errorf("%+v", got)
	}
}

// nowhere is a process without known types, functions or unreadable memory.
type nowhere struct{}

func (nowhere) DynamicType(uint64) *gotype.Type { return nil }
func (nowhere) ItabType(uint64) (uint64, bool)  { return 0, false }
func (nowhere) Bias() uint64                    { return 0 }
func (nowhere) FuncName(uint64) string          { return "" }
func (nowhere) Readable(uint64) (bool, bool)    { return true, true }

// TestDoubtful checks that words that may be another argument's are only shown: they have no type to compare or assert.
func TestDoubtful(t *testing.T) {
	word := &gotype.Type{Name: "word", Kind: reflect.UnsafePointer, Size: 8, Align: 8}
	vars := []offsets.Variable{inRegisters("sure", word, "ax"), inRegisters("maybe", word.Named("word?"), "bx"),
		inRegisters("both", structOf("{word, word?}", 16, gotype.Field{Name: "w0", Type: word}, gotype.Field{Name: "w1", Offset: 8, Type: word.Named("word?")}), "cx", "di")}
	opt := options
	opt.Type = func(string) (*gotype.Type, error) { return gotype.PointerTo(inner), nil }
	for path, want := range map[string]error{
		"sure": nil, "sure.(*main.inner).n": nil, "both.w0": nil,
		"maybe": errDoubtful, "maybe.(*main.inner).n": errDoubtful, "both": errDoubtful, "both.w1": errDoubtful,
	} {
		if _, err := NewBuilder(vars, opt).Type(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := NewBuilder(vars, opt).Capture([]string{"maybe", "both"}, nil); err != nil {
		t.Error(err)
	}
}
