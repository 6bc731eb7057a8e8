package amd64

import (
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// TestTaken derives the flags of every comparison of two bytes from their
// definition, and asks for what each condition is named for (Intel SDM vol. 2, Jcc).
func TestTaken(t *testing.T) {
	parity := func(b uint8) bool {
		even := true
		for ; b != 0; b &= b - 1 {
			even = !even
		}
		return even
	}
	for x := range 256 {
		for y := range 256 {
			a, b := uint8(x), uint8(y)
			diff := a - b
			wide := int(int8(a)) - int(int8(b))
			overflow := wide != int(int8(wide))
			var flags uint64 = 1<<1 | 1<<9 // always set; interrupts
			for bit, on := range map[int]bool{0: a < b, 2: parity(diff), 6: diff == 0, 7: diff >= 128, 11: overflow} {
				if on {
					flags |= 1 << bit
				}
			}
			want := [16]bool{
				overflow, !overflow,
				a < b, a >= b,
				a == b, a != b,
				a <= b, a > b,
				diff >= 128, diff < 128,
				parity(diff), !parity(diff),
				int8(a) < int8(b), int8(a) >= int8(b),
				int8(a) <= int8(b), int8(a) > int8(b),
			}
			for cond, taken := range want {
				if got := Processor.Taken(arch.Cond(cond), flags); got != taken {
					t.Fatalf("cmp %d, %d: condition %d taken: %v, want %v", a, b, cond, got, taken)
				}
			}
		}
	}
}
