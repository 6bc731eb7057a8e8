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
