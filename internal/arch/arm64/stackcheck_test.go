package arm64

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// checked is a function of Go: a prologue whose conditional branches lead to what calls morestack, a body, and that.
func checked(prologue []uint32, tail ...uint32) []byte {
	const ret, moves, calls = 0xd65f03c0, 0xaa1e03e3, 0x94000100
	words := append(slices.Clone(prologue), ret)
	for i, w := range words {
		if w>>24 == 0x54 {
			words[i] |= uint32(len(words)-i) << 5
		}
	}
	if tail == nil {
		tail = []uint32{moves, calls}
	}
	words = append(words, tail...)
	return code(append(words, 0x14000000|-uint32(len(words))&0x3ffffff)...) // b to the beginning
}

// TestStackCheck: the forms that Go's assembler has made since 1.16, and what only looks like one.
func TestStackCheck(t *testing.T) {
	const (
		ls, lo, eq, hi = 0x54000009, 0x54000003, 0x54000000, 0x54000008
		old, guard     = 0xf9400b81, 0xf9400b90 // ldr x1 and x16, [x28, #16]
		compare, small = 0xeb10023f, 0xeb3063ff // cmp x17, x16; cmp sp, x16
		store          = 0xf81e0ffe             // str x30, [sp, #-32]!
	)
	large := []uint32{guard, 0xd282e61b, 0xeb3b63f1, lo, compare, ls, store}
	for _, c := range []struct {
		scenario string
		words    []uint32
		jump     int // the instruction, -1 for none
	}{
		{"1.16, small", []uint32{old, 0x910003e2, 0xeb01005f, ls, store}, 3},
		{"1.16", []uint32{old, 0xd10203e2, 0xeb01005f, ls, store}, 3},
		{"1.16, large", []uint32{old, 0x9280a43b, 0xeb1b003f, eq, 0x910e83e2, 0xcb010042, 0xd2835803, 0xeb03005f, ls, store}, 8},
		{"1.16, larger", []uint32{old, 0x9280a43b, 0xeb1b003f, eq, 0x910e83e2, 0xcb010042, 0xd28f4a03, 0xf2a00023, 0xeb03005f, ls, store}, 9},
		{"1.18, small", []uint32{guard, 0x910003f1, compare, ls, store}, 3},
		{"1.20, small", []uint32{guard, small, ls, store}, 2},
		{"1.18", []uint32{guard, 0xd10203f1, compare, ls, store}, 3},
		{"1.18, large", large, 5},
		{"1.18, larger", []uint32{guard, 0xd28ed81b, 0xf2a0003b, 0xeb3b63f1, lo, compare, ls, store}, 6},
		{"stackguard1", []uint32{0xf9400f90, small, ls, store}, 2},
		{"another field of g", []uint32{0xf9401390, small, ls, store}, -1},
		{"of what is not g", []uint32{0xf9400b70, small, ls, store}, -1},
		{"another condition", []uint32{guard, small, hi, store}, -1},
		{"an argument written", []uint32{guard, 0xaa0103e0, small, ls, store}, -1},
		{"memory written", []uint32{guard, 0xf90007f0, small, ls, store}, -1},
		{"SP written", []uint32{guard, 0xd10043ff, small, ls, store}, -1},
		{"no guard", []uint32{0xd10203f1, compare, ls, store}, -1},
		{"guard behind the branch", []uint32{small, ls, guard, store}, -1},
		{"a loop to the check", []uint32{guard, small, ls, store, 0x17fffffe}, -1},
		{"a loop to behind it", []uint32{guard, small, ls, store, 0x17ffffff}, 2},
	} {
		function := checked(c.words)
		got, ok := arch.StackCheck(Processor, function, arch.Instructions(Processor, function))
		want := arch.Check{}
		if c.jump >= 0 {
			want = arch.Check{Jump: 4 * c.jump, Post: 4*c.jump + 4, Repeats: true}
		}
		if ok != (c.jump >= 0) || ok && got != want {
			t.Errorf("%s: %+v, %v; want %+v", c.scenario, got, ok, want)
		}
		for n := range len(function) {
			if _, ok := arch.StackCheck(Processor, function[:n], arch.Instructions(Processor, function[:n])); ok {
				t.Errorf("%s: a check in the first %d bytes", c.scenario, n)
			}
		}
	}
	for scenario, tail := range map[string][]uint32{
		"no call": {0xaa1e03e3}, "two calls": {0x94000100, 0x94000100}, "a branch": {0x94000100, 0xb4000040},
	} {
		if check, ok := arch.StackCheck(Processor, checked(large, tail...), arch.Instructions(Processor, checked(large, tail...))); ok {
			t.Errorf("%s: %+v", scenario, check)
		}
	}
}
