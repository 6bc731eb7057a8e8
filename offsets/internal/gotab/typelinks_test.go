package gotab

import "testing"

// TestAsTheRuntime: predeclared types have the runtime's names, but not the packages that are called like them.
func TestAsTheRuntime(t *testing.T) {
	for name, want := range map[string]string{
		"[]byte": "[]uint8", "map[rune]any": "map[int32]interface {}", "*[4]byte": "*[4]uint8", "main.G[byte,string]": "main.G[uint8,string]",
		"*any.Any": "*any.Any", "example.com/any.T": "example.com/any.T", "rune.byte": "rune.byte", "bytes.Buffer": "bytes.Buffer",
	} {
		if got := asTheRuntime(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
