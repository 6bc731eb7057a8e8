package pairing

import (
	"math/rand/v2"
	"testing"
)

func TestStackBounds(t *testing.T) {
	var b stackBounds
	owner := func(sp uint64) uint64 {
		x, ok := b.find(sp)
		if !ok {
			return 0
		}
		return x.g
	}
	check := func(what string, sps map[uint64]uint64) {
		t.Helper()
		for sp, want := range sps {
			if got := owner(sp); got != want {
				t.Errorf("%s: SP %d is on the stack of %d, want %d", what, sp, got, want)
			}
		}
	}
	b.learn(1, 100, 200)
	b.learn(2, 200, 300)
	check("neighbours", map[uint64]uint64{100: 0, 101: 1, 200: 1, 201: 2, 300: 2, 301: 0})
	if b.learn(1, 100, 200) {
		t.Error("the same bounds again are news")
	}
	b.move(1, 400, 600)
	check("moved", map[uint64]uint64{150: 0, 401: 1, 600: 1, 250: 2})
	b.move(9, 700, 800)
	check("the stack of one that is not known moved", map[uint64]uint64{750: 0})
	b.learn(3, 350, 450)
	check("memory is used again", map[uint64]uint64{401: 3, 500: 0, 250: 2})
	b.forget(3)
	check("ended", map[uint64]uint64{401: 0, 250: 2})
}

// TestStackBoundsAgainstList compares with a list that is searched from end to end.
func TestStackBoundsAgainstList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b stackBounds
	var list []bound
	for range 5000 {
		g, lo := r.Uint64N(40)+1, r.Uint64N(1000)
		x := bound{lo, lo + 1 + r.Uint64N(60), g}
		b.learn(x.g, x.lo, x.hi)
		kept := list[:0:0]
		for _, y := range list {
			if y.g != x.g && (y.hi <= x.lo || x.hi <= y.lo) {
				kept = append(kept, y)
			}
		}
		list = append(kept, x)
		sp := r.Uint64N(1100)
		var want uint64
		for _, y := range list {
			if y.lo < sp && sp <= y.hi {
				want = y.g
			}
		}
		got, ok := b.find(sp)
		if ok != (want != 0) || ok && got.g != want {
			t.Fatalf("SP %d is on the stack of %d, want %d", sp, got.g, want)
		}
		if len(b) != len(list) {
			t.Fatalf("%d stacks, want %d", len(b), len(list))
		}
	}
}
