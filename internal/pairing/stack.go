package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// process is what is known of a process that events have come from.
type process struct {
	pid int
	// stacks are those that have, or had, open calls; last is the one of lastKey, nil for none,
	// as it is often looked up again.
	stacks  map[stackKey]*stack
	lastKey stackKey
	last    *stack
	// assembly remembers, by thread id, for a thread inside an assembly function, on which stack
	// it was entered: such code may use the register of g for itself.
	assembly map[int]*stack
	// bounds are the stacks that SP is looked up in where nothing else tells the goroutine.
	bounds  stackBounds
	threads map[int]thread // by thread id
	gs      goroutines
}

// nowhere is where no event comes from.
var nowhere = &process{pid: -1}

func newProcess(pid int) *process {
	return &process{
		pid: pid, stacks: make(map[stackKey]*stack), assembly: make(map[int]*stack),
		threads: make(map[int]thread), gs: make(goroutines),
	}
}

// stackKey names a stack of a process: the one of g, or, outside of Go, a thread's.
type stackKey struct {
	id       uint64 // address of g, or thread id
	isThread bool
}

// keyOf names the stack of the g that an event fetches.
func keyOf(ev *parse.Event, f *uprobe.Fields) stackKey { return stackKey{id: ev.Args[f.G]} }

// stack is the one of a key, nil if none is known.
func (p *process) stack(key stackKey) *stack {
	if p.last == nil || p.lastKey != key {
		p.lastKey, p.last = key, p.stacks[key]
	}
	return p.last
}

// stackOf is the one of a key, made if none is known.
func (p *process) stackOf(key stackKey) *stack {
	if p.stack(key) == nil {
		p.last = &stack{pid: p.pid, key: key, unnamed: true}
		p.stacks[key] = p.last
	}
	return p.last
}

// drop forgets the stack of a key, which has no calls.
func (p *process) drop(key stackKey) {
	delete(p.stacks, key)
	p.last = nil
}

// stackBounds are the stacks of a process's goroutines, as far as they are known, by lo: the
// only way to tell whose call a return belongs to in Go before 1.17. They never
// overlap: memory of one that is gone is used again for another.
type stackBounds []bound

// bound is the memory of one stack; SP is in (lo, hi].
type bound struct{ lo, hi, g uint64 }

// above is the index of the first stack that begins at an address or above.
func (b stackBounds) above(addr uint64) int {
	i, _ := slices.BinarySearchFunc(b, addr, func(x bound, addr uint64) int { return cmp.Compare(x.lo, addr) })
	return i
}

// find returns the stack that SP is on.
func (b stackBounds) find(sp uint64) (x bound, ok bool) {
	if i := b.above(sp); i > 0 {
		x = b[i-1]
	}
	return x, x.lo < sp && sp <= x.hi
}

// learn takes the bounds of g's stack; those they overlap are out of date. It tells
// whether they were news.
func (b *stackBounds) learn(g, lo, hi uint64) (news bool) {
	x := bound{lo, hi, g}
	if known, _ := b.find(hi); known == x {
		return false
	}
	*b = slices.DeleteFunc(*b, func(y bound) bool { return y.g == g || y.lo < hi && lo < y.hi })
	*b = slices.Insert(*b, b.above(lo), x)
	return true
}

// move is learn for a g that is known: of the others no call is open.
func (b *stackBounds) move(g, lo, hi uint64) {
	if slices.ContainsFunc(*b, func(x bound) bool { return x.g == g }) {
		b.learn(g, lo, hi)
	}
}

// forget drops the stack of a goroutine that has ended.
func (b *stackBounds) forget(g uint64) {
	*b = slices.DeleteFunc(*b, func(x bound) bool { return x.g == g })
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

// locate tells which stack an event is on, and how deep.
func (p *pairer) locate(ev *parse.Event, f *uprobe.Fields) (key stackKey, depth uint64) {
	sp := ev.Args[f.SP]
	// The stack of a thread, or one that a signal handler runs on, stays where it
	// is: SP itself, turned round to grow with depth, will do.
	key, depth = stackKey{uint64(ev.TID), true}, ^sp
	if p.plan.BySP {
		// Each call has a stack of its own, as it were: stacks are disjoint, and never
		// move, but execution changes between them at any time.
		return stackKey{sp, true}, 0
	}
	if f.G < 0 {
		if x, ok := p.proc.bounds.find(sp); ok {
			return stackKey{id: x.g}, x.hi - sp
		}
		return key, depth
	}
	g, hi := keyOf(ev, f), ev.Args[f.Hi]
	if f.Lo >= 0 {
		lo := ev.Args[f.Lo]
		if lo >= sp || sp > hi {
			return key, depth
		}
		if p.plan.ByStack && p.proc.bounds.learn(g.id, lo, hi) {
			p.adopt(key, g, lo, hi)
		}
	}
	return g, hi - sp
}

// adopt gives a goroutine the calls that were taken for its thread's: they had been
// entered before anything told where the goroutine's stack is.
func (p *pairer) adopt(thread, g stackKey, lo, hi uint64) {
	from, to := p.proc.stacks[thread], p.proc.stacks[g]
	if from == nil || to != nil && len(to.frames) > 0 {
		return
	}
	var moved []frame
	from.frames = slices.DeleteFunc(from.frames, func(f frame) bool {
		ours := lo < f.sp && f.sp <= hi
		if ours {
			f.depth = hi - f.sp
			moved = append(moved, f)
		}
		return ours
	})
	if len(moved) > 0 {
		s := p.proc.stackOf(g)
		for i := range moved {
			moved[i].hitsBefore = s.hits.since(from.hits.since(moved[i].hitsBefore)) // it has as many within as before
		}
		s.frames = append(s.frames, moved...)
	}
}
