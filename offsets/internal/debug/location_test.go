package debug

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
)

// TestReadExpression: what compilers write is understood, and nothing else.
func TestReadExpression(t *testing.T) {
	for _, c := range []struct {
		name       string
		expression []byte
		want       string
	}{
		{"a register", []byte{0x50}, "[ax]"},
		{"a register by number", []byte{0x90, 8}, "[r8]"},
		{"a floating-point register", []byte{0x61}, "[]"},
		{"registers in pieces", []byte{0x50, 0x93, 8, 0x53, 0x93, 8}, "[ax bx]"},
		{"the same register twice", []byte{0x50, 0x93, 8, 0x50, 0x93, 8, 0x53, 0x93, 8}, "[ax bx]"},
		{"from the frame", []byte{0x91, 16}, "24 of 0"},
		{"at the frame", []byte{0x9c}, "8 of 0"},
		{"behind the frame, Go 1.7", []byte{0x9c, 0x11, 16, 0x22}, "24 of 0"},
		{"behind the frame, Go 1.4", []byte{0x9c, 0x23, 16}, "24 of 0"},
		{"on the stack in pieces", []byte{0x91, 0, 0x93, 8, 0x91, 8, 0x93, 8}, "8 of 16"},
		{"pieces that are not neighbours", []byte{0x91, 16, 0x93, 8, 0x91, 16, 0x93, 8}, "nothing"},
		{"one piece is nowhere", []byte{0x50, 0x93, 8, 0x93, 8}, "nothing"},
		{"on the stack and in a register", []byte{0x91, 0, 0x93, 8, 0x50, 0x93, 8}, "nothing"},
		{"a value and no place", []byte{0x50, 0x9f}, "nothing"},
		{"cut off", []byte{0x91}, "nothing"},
		{"empty", nil, "nothing"},
		{"no such register", []byte{0x90, 99}, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, ok := readExpression(amd64.Processor, c.expression)
			got := "nothing"
			if ok && at.Stack {
				got = fmt.Sprintf("%d of %d", at.Disp, at.Size)
			} else if ok {
				got = fmt.Sprint(at.Registers)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// FuzzExpression: no expression makes the reader panic, and what it makes out is a
// place.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x50, 0x93, 8, 0x53, 0x93, 8})
	f.Add([]byte{0x9c, 0x11, 16, 0x22})
	f.Add([]byte{0x91, 0, 0x93, 8, 0x91, 8, 0x93, 8})
	f.Fuzz(func(t *testing.T, expression []byte) {
		at, ok := readExpression(amd64.Processor, expression)
		if ok && at.Stack == (len(at.Registers) > 0) {
			t.Errorf("% x: %+v", expression, at)
		}
	})
}
