package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// process is what is known of a process that events have come from.
type process struct {
	pid    int
	latest uint64 // the time of its last event
	// stacks are those that have, or had, open calls; last is the one of lastKey, nil for none,
	// as it is often looked up again.
	stacks  map[stackKey]*stack
	lastKey stackKey
	last    *stack
	// bounds are the stacks that SP is looked up in where nothing else tells the goroutine.
	bounds  stackBounds
	gs      map[uint64]*schedG // by the address of g
	origins map[uint64]origin  // of goroutines that calls have started, likewise
}

// nowhere is where no event comes from.
var nowhere = &process{pid: -1}

func newProcess(pid int) *process {
	return &process{
		pid: pid, stacks: make(map[stackKey]*stack), gs: make(map[uint64]*schedG), origins: make(map[uint64]origin),
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
		p.last = &stack{key: key, unnamed: true}
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
func (p *Stream) is(ev *parse.Event, s *stack, goid uint64) {
	if !s.unnamed && s.goid == goid {
		return
	}
	if !s.unnamed {
		p.unwind(ev, s, 0)
	}
	s.goid, s.ended, s.unnamed = goid, false, false
}

// locate tells which stack an event is on, and how deep.
func (p *Stream) locate(ev *parse.Event, f *uprobe.Fields) (key stackKey, depth uint64) {
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
func (p *Stream) adopt(thread, g stackKey, lo, hi uint64) {
	from, to := p.proc.stacks[thread], p.proc.stacks[g]
	if from == nil || to != nil && len(to.frames) > 0 {
		return
	}
	var moved []frame
	from.frames = slices.DeleteFunc(from.frames, func(f frame) bool {
		ours := lo < f.SP && f.SP <= hi
		if ours {
			f.depth = hi - f.SP
			moved = append(moved, f)
		}
		return ours
	})
	if len(moved) > 0 {
		s := p.proc.stackOf(g)
		for i := range moved {
			within := from.hits.since(&moved[i].Hits)
			moved[i].Hits = s.hits.since(&within) // it has as many within as before
		}
		s.frames = append(s.frames, moved...)
	}
}

// KernelField is a value of a kernel event.
type KernelField = parse.Field

// KernelEvent is an event of the kernel itself, with what the thread was doing.
type KernelEvent struct {
	parse.Event
	// Known: it is known which stack the thread was on.
	Known bool
	// Goid is the goroutine; 0 if that is not known, or if there was none.
	Goid uint64
	// Call is the innermost traced call that was open there, nil if none was. It has no Outcome, nor what a call
	// gets when it ends.
	Call *Call
}

// ran notes that a hit of a function on a thread was on a stack, if anybody wants to know.
func (p *Stream) ran(ev *parse.Event, fn int, s *stack) {
	if p.plan.Sched || p.opt.Kernel != nil {
		p.runs(ev, fn, s)
	}
}

func (p *Stream) runs(ev *parse.Event, fn int, s *stack) {
	system := s.key.isThread || s.goid == 0 && !s.unnamed
	if p.plan.Sched {
		var g *schedG
		if !system {
			g = p.proc.goroutine(ev.Time, s.key.id)
			g.goid = cmp.Or(s.goid, g.goid)
		}
		p.at = p.sched.call(ev.Time, ev.PID, ev.TID, g)
	}
	switch t := p.sched.thread(ev.Time, ev.PID, ev.TID); {
	case p.opt.Kernel == nil:
	case !p.plan.Threads:
		// Without goroutines the thread's stack is the only one it has.
		if s.key.isThread && !p.plan.BySP && p.plan.Funcs[fn].ABI == offsets.SystemV {
			t.on = s
		}
	case system:
		t.system = s
	default:
		t.on, t.system = s, nil
	}
}

// where notes what the thread of an event is doing.
func (ev *KernelEvent) where(t *thread) {
	if t == nil || t.pid != ev.PID {
		return
	}
	if t.on != nil {
		ev.Known, ev.Goid = true, t.on.goid
		ev.take(t.on)
	}
	if t.system != nil && len(t.system.frames) > 0 {
		ev.Known = true
		ev.take(t.system)
	}
}

func (ev *KernelEvent) take(s *stack) {
	if n := len(s.frames); n > 0 {
		ev.Call = &s.frames[n-1].Call
	}
}
