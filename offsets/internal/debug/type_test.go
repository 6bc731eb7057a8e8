package debug

import (
	"testing"
)

// TestTypeName: types are spelled as source files spell them.
func TestTypeName(t *testing.T) {
	for name, want := range map[string]string{
		"main.T":                        "main.T",
		"go.shape.int":                  "int",
		"go.shape.string_0":             "string",
		"go.shape.struct { A int_1 }":   "struct { A int_1 }",
		"go.shape.*uint8_0":             "go.shape.*uint8",
		"[]go.shape.*uint8":             "[]go.shape.*uint8",
		"[]go.shape.int":                "[]int",
		"main.pile[go.shape.int]":       "main.pile[int]",
		"noalg.struct { F uintptr }":    "struct { F uintptr }",
		"":                              "",
		"*main.pair[go.shape.int,bool]": "*main.pair[int,bool]",
	} {
		if got := typeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestMemberOffset: a field is at a number of bytes, or, of old linkers, at an expression.
func TestMemberOffset(t *testing.T) {
	for _, c := range []struct {
		name string
		val  any
		want int64
		ok   bool
	}{
		{"number", int64(152), 152, true},
		{"expression", []byte{0x23, 0x98, 0x01}, 152, true},
		{"another operation", []byte{0x11, 0x08}, 0, false},
		{"cut off", []byte{0x23, 0x98}, 0, false},
		{"no number", []byte{0x23}, 0, false},
		{"absent", nil, 0, false},
	} {
		if got, ok := memberOffset(c.val); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
