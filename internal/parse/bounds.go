package parse

import "slices"

// stackBounds are the stacks of a process's goroutines, as far as they are known: the
// only way to tell whose call a return belongs to in Go before 1.17. They never
// overlap: memory of one that is gone is used again for another.
type stackBounds struct {
	byLo []bound // by lo
	of   map[uint64]bound
}

// bound is the memory of one stack; SP is in (lo, hi].
type bound struct{ lo, hi, g uint64 }

// find returns whose stack SP is on.
func (b *stackBounds) find(sp uint64) (g, hi uint64, ok bool) {
	if b == nil {
		return 0, 0, false
	}
	i, _ := slices.BinarySearchFunc(b.byLo, sp, func(x bound, sp uint64) int {
		if x.lo < sp {
			return -1
		}
		return 1
	})
	if i == 0 || sp > b.byLo[i-1].hi {
		return 0, 0, false
	}
	return b.byLo[i-1].g, b.byLo[i-1].hi, true
}

// learn takes the bounds of g's stack; those they overlap are out of date. It tells
// whether they were news.
func (b *stackBounds) learn(g, lo, hi uint64) (news bool) {
	x := bound{lo, hi, g}
	if b.of[g] == x {
		return false
	}
	b.forget(g)
	b.byLo = slices.DeleteFunc(b.byLo, func(y bound) bool {
		if y.lo < hi && lo < y.hi {
			delete(b.of, y.g)
			return true
		}
		return false
	})
	i, _ := slices.BinarySearchFunc(b.byLo, lo, func(y bound, lo uint64) int {
		if y.lo < lo {
			return -1
		}
		return 1
	})
	b.byLo = slices.Insert(b.byLo, i, x)
	if b.of == nil {
		b.of = make(map[uint64]bound)
	}
	b.of[g] = x
	return true
}

// move is learn for a g that is known: of the others no call is open.
func (b *stackBounds) move(g, lo, hi uint64) {
	if _, known := b.of[g]; known {
		b.learn(g, lo, hi)
	}
}

// forget drops the stack of a goroutine that has ended.
func (b *stackBounds) forget(g uint64) {
	if b == nil {
		return
	}
	x, ok := b.of[g]
	if !ok {
		return
	}
	delete(b.of, g)
	b.byLo = slices.DeleteFunc(b.byLo, func(y bound) bool { return y == x })
}
