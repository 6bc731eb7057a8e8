package pairing

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStackBounds compares stackBounds with a linear search while stacks are added, moved and deleted. New stacks reuse
// the memory of old ones, stacks may be adjacent, and moved or deleted ones may be unknown.
func TestStackBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b stackBounds
	var list []bound
	for range 10_000 {
		g, lo := r.Uint64N(40)+1, r.Uint64N(100)*10
		x := bound{lo, lo + 10*(1+r.Uint64N(6)), g}
		others := slices.DeleteFunc(slices.Clone(list), func(y bound) bool { return y.g == g })
		switch known := len(others) < len(list); r.IntN(5) {
		case 0:
			b.forget(g)
			list = others
		case 1:
			if b.move(g, x.lo, x.hi); known {
				list = append(slices.DeleteFunc(others, x.overlaps), x)
			}
		default:
			if news := b.learn(g, x.lo, x.hi); news == slices.Contains(list, x) {
				t.Fatalf("%+v is news: %v", x, news)
			}
			list = append(slices.DeleteFunc(others, x.overlaps), x)
		}
		sp := r.Uint64N(1100)
		var want bound
		for _, y := range list {
			if y.lo < sp && sp <= y.hi {
				want = y
			}
		}
		got, ok := b.find(sp)
		if ok != (want.g != 0) || ok && got != want {
			t.Fatalf("SP %d is on the stack %+v, want %+v", sp, got, want)
		}
		if len(b) != len(list) {
			t.Fatalf("%d stacks, want %d", len(b), len(list))
		}
	}
}

func (x bound) overlaps(y bound) bool { return x.lo < y.hi && y.lo < x.hi }
