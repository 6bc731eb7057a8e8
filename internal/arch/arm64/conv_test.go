package arm64

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// structOf is a struct of fields one behind the other.
func structOf(size int64, fields ...*gotype.Type) *gotype.Type {
	t := &gotype.Type{Kind: reflect.Struct, Size: size}
	at := int64(0)
	for _, f := range fields {
		t.Fields = append(t.Fields, gotype.Field{Offset: at, Type: f})
		at += f.Size
	}
	return t
}

func arrayOf(n int64, elem *gotype.Type) *gotype.Type {
	t := &gotype.Type{Kind: reflect.Array, Size: n * elem.Size, Len: n}
	t.SetElem(func() *gotype.Type { return elem })
	return t
}

// TestPassC: values of floating point of one size have registers of their own, all others are words.
func TestPassC(t *testing.T) {
	single, double := &gotype.Type{Kind: reflect.Float64, Size: 4}, &gotype.Type{Kind: reflect.Float64, Size: 8}
	number, nothing := &gotype.Type{Kind: reflect.Int, Size: 4}, structOf(0)
	unknown := &gotype.Type{Size: 4}
	for _, c := range []struct {
		name string
		of   *gotype.Type
		want string
	}{
		{"int", number, "0+4"},
		{"double", double, "f0+8"},
		{"complex float", &gotype.Type{Kind: reflect.Complex128, Size: 8}, "f0+4 f4+4"},
		{"four floats", arrayOf(4, single), "f0+4 f4+4 f8+4 f12+4"},
		{"four doubles, nested", structOf(32, double, structOf(16, double, double), double), "f0+8 f8+8 f16+8 f24+8"},
		{"floats and nothing", structOf(8, single, nothing, single), "f0+4 f4+4"},
		{"five floats", arrayOf(5, single), "by reference"},
		{"a million floats", arrayOf(1<<20, single), "by reference"},
		{"floats of two sizes", structOf(16, double, single), "0+8 8+8"},
		{"floats with room between", structOf(16, single, single), "0+8 8+8"},
		{"a float and an int", structOf(8, single, number), "0+8"},
		{"three ints", structOf(12, number, number, number), "0+8 8+4"},
		{"five ints", structOf(20, number, number, number, number, number), "by reference"},
		{"nothing", nothing, ""},
		{"unknown", unknown, "unknown"},
		{"something unknown", structOf(8, single, unknown), "unknown"},
		{"an array of what is unknown", arrayOf(2, unknown), "unknown"},
	} {
		parts, byRef, err := processor{}.PassC(c.of)
		got := ""
		for i, part := range parts {
			if i > 0 {
				got += " "
			}
			if part.Float {
				got += "f"
			}
			got += fmt.Sprintf("%d+%d", part.Offset, part.Size)
		}
		if byRef {
			got += "by reference"
		}
		if err != nil {
			got = "unknown"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestRegisters: DWARF's numbers, and the names that the kernel knows.
func TestRegisters(t *testing.T) {
	for n, want := range map[uint64]string{0: "x0 true", 30: "x30 true", 31: "sp true", 32: " false", 63: " false", 64: " true", 95: " true", 96: " false"} {
		if r, ok := machine.DwarfReg(n); fmt.Sprint(r, " ", ok) != want {
			t.Errorf("register %d: %s %v, want %s", n, r, ok, want)
		}
	}
	for r, want := range map[arch.Reg]bool{"x0": true, "x30": true, "lr": true, "sp": true, "pc": true, "pstate": true, "x31": false, "r0": false, "w0": false, "fp": false, "d0": false, "ax": false} {
		if machine.Fetches(r) != want {
			t.Errorf("fetches %s: %v", r, !want)
		}
	}
}
