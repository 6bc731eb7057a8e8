package debug

import (
	"fmt"
	"testing"
)

// TestFramePlace: what compilers write for places on the stack is understood, and nothing else.
func TestFramePlace(t *testing.T) {
	for _, c := range []struct {
		name       string
		expression []byte
		want       string
	}{
		{"a register", []byte{0x50}, "nothing"},
		{"from the frame", []byte{0x91, 16}, "16 of 0"},
		{"at the frame", []byte{0x9c}, "0 of 0"},
		{"behind the frame, Go 1.7", []byte{0x9c, 0x11, 16, 0x22}, "16 of 0"},
		{"behind the frame, Go 1.4", []byte{0x9c, 0x23, 16}, "16 of 0"},
		{"in pieces", []byte{0x91, 0, 0x93, 8, 0x91, 8, 0x93, 8}, "0 of 16"},
		{"pieces that are not neighbours", []byte{0x91, 16, 0x93, 8, 0x91, 16, 0x93, 8}, "nothing"},
		{"one piece is nowhere", []byte{0x91, 0, 0x93, 8, 0x93, 8}, "nothing"},
		{"on the stack and in a register", []byte{0x91, 0, 0x93, 8, 0x50, 0x93, 8}, "nothing"},
		{"a value and no place", []byte{0x91, 0, 0x9f}, "nothing"},
		{"cut off", []byte{0x91}, "nothing"},
		{"cut off within", []byte{0x9c, 0x11, 16}, "nothing"},
		{"empty", nil, "nothing"},
	} {
		disp, size, ok := framePlace(c.expression)
		got := "nothing"
		if ok {
			got = fmt.Sprintf("%d of %d", disp, size)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzExpression: no expression makes the reader panic.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x91, 0, 0x93, 8})
	f.Add([]byte{0x9c, 0x11, 16, 0x22})
	f.Add([]byte{0x9c, 0x23, 16})
	f.Fuzz(func(t *testing.T, expression []byte) { framePlace(expression) })
}
