package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// stackBounds are the stacks of a process's goroutines, as far as they are known: the
// only way to tell whose call a return belongs to in Go before 1.17. They never
// overlap: memory of one that is gone is used again for another.
type stackBounds struct {
	byLo []bound // by lo
	of   map[uint64]bound
}

// bound is the memory of one stack; SP is in (lo, hi].
type bound struct{ lo, hi, g uint64 }

// above is the index of the first stack that begins at an address or above.
func (b *stackBounds) above(addr uint64) int {
	i, _ := slices.BinarySearchFunc(b.byLo, addr, func(x bound, addr uint64) int { return cmp.Compare(x.lo, addr) })
	return i
}

// find returns whose stack SP is on.
func (b *stackBounds) find(sp uint64) (g, hi uint64, ok bool) {
	if b == nil {
		return 0, 0, false
	}
	i := b.above(sp)
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
	b.byLo = slices.Insert(b.byLo, b.above(lo), x)
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

// stack is the one of a key, nil if none is known.
func (p *pairer) stack(key stackKey) *stack {
	if p.last == nil || p.lastKey != key {
		p.lastKey, p.last = key, p.stacks[key]
	}
	return p.last
}

// stackOf is the one of a key, made if none is known.
func (p *pairer) stackOf(key stackKey) *stack {
	if p.stack(key) == nil {
		p.last = &stack{unnamed: true}
		p.stacks[key] = p.last
	}
	return p.last
}

// is says which goroutine a stack is of. The runtime gives the g of one that is gone to a new one.
func (p *pairer) is(ev *parse.Event, s *stack, goid uint64) {
	if !s.unnamed && s.goid == goid {
		return
	}
	if !s.unnamed {
		p.unwind(ev, s, 0)
	}
	s.goid, s.ended, s.unnamed = goid, false, false
}

// boundsOf are the known stacks of a process; nil where they don't matter.
func (p *pairer) boundsOf(pid int) *stackBounds {
	if p.bounds == nil {
		return nil
	}
	b := p.bounds[pid]
	if b == nil {
		b = &stackBounds{}
		p.bounds[pid] = b
	}
	return b
}

// threadStack is the stack of an event's thread.
func threadStack(ev *parse.Event) stackKey {
	return stackKey{pid: ev.PID, id: uint64(ev.TID), isThread: true}
}

// locate tells which stack an event is on, and how deep.
func (p *pairer) locate(ev *parse.Event, f *uprobe.Fields) (key stackKey, depth uint64) {
	sp := ev.Args[f.SP]
	// The stack of a thread, or one that a signal handler runs on, stays where it
	// is: SP itself, turned round to grow with depth, will do.
	key, depth = threadStack(ev), ^sp
	if p.plan.BySP {
		// Each call has a stack of its own, as it were: stacks are disjoint, and never
		// move, but execution changes between them at any time.
		return stackKey{pid: ev.PID, id: sp, isThread: true}, 0
	}
	if f.G < 0 {
		if g, hi, ok := p.boundsOf(ev.PID).find(sp); ok {
			return stackKey{pid: ev.PID, id: g}, hi - sp
		}
		return key, depth
	}
	g, hi := keyOf(ev, f), ev.Args[f.Hi]
	if f.Lo >= 0 {
		lo := ev.Args[f.Lo]
		if lo >= sp || sp > hi {
			return key, depth
		}
		if p.bounds != nil && p.boundsOf(ev.PID).learn(g.id, lo, hi) {
			p.adopt(key, g, lo, hi)
		}
	}
	return g, hi - sp
}

// adopt gives a goroutine the calls that were taken for its thread's: they had been
// entered before anything told where the goroutine's stack is.
func (p *pairer) adopt(thread, g stackKey, lo, hi uint64) {
	from := p.stacks[thread]
	if from == nil || p.stacks[g] != nil && len(p.stacks[g].frames) > 0 {
		return
	}
	kept := from.frames[:0]
	var moved []frame
	for _, f := range from.frames {
		if lo < f.sp && f.sp <= hi {
			f.depth = hi - f.sp
			moved = append(moved, f)
		} else {
			kept = append(kept, f)
		}
	}
	clear(from.frames[len(kept):]) // their args have moved
	from.frames = kept
	if len(moved) > 0 {
		s := p.stackOf(g)
		for i := range moved {
			moved[i].hitsBefore = s.hits.since(from.hits.since(moved[i].hitsBefore)) // it has as many within as before
		}
		s.frames = append(s.frames, moved...)
	}
}
