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
	// assembly remembers, by thread id, for a thread inside an assembly function, on which stack
	// it was entered: such code may use the register of g for itself.
	assembly map[int]*stack
	// bounds are the stacks that SP is looked up in where nothing else tells the goroutine.
	bounds  stackBounds
	threads map[int]thread     // by thread id
	gs      map[uint64]*schedG // by the address of g
	origins map[uint64]origin  // of goroutines that calls have started, likewise
}

// nowhere is where no event comes from.
var nowhere = &process{pid: -1}

func newProcess(pid int) *process {
	return &process{
		pid: pid, stacks: make(map[stackKey]*stack), assembly: make(map[int]*stack),
		threads: make(map[int]thread), gs: make(map[uint64]*schedG), origins: make(map[uint64]origin),
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
			within := from.hits.since(&moved[i].hitsBefore)
			moved[i].hitsBefore = s.hits.since(&within) // it has as many within as before
		}
		s.frames = append(s.frames, moved...)
	}
}

// KernelField is a value of a kernel event.
type KernelField = parse.Field

// KernelEvent is an event of the kernel itself.
type KernelEvent struct {
	parse.Event
	// Where is what the thread is known to have been doing.
	Where Where
}

// Where is what a thread was doing at some time.
type Where struct {
	// Known: it is known which stack the thread was on.
	Known bool
	// Goid is the goroutine; 0 if that is not known, or if there was none.
	Goid uint64
	// Func is the index in Plan.Funcs of the innermost traced call that was open there, Depth
	// the number of those that it was inside of; Func is -1 if none was.
	Func, Depth int
	// Start is when that call began, Inside what its Call.Inside is.
	Start  uint64
	Inside bool
}

// thread is what a thread is known to be running: nothing, or the stack that it is on.
//
// A thread goes on with another goroutine only in runtime.execute, and leaves one only for
// runtime.schedule (or, for a coroutine, in coroswitch_m): where these have runtime probes in
// the plan, what a thread runs is known at all times between, from the first hit on
// it. Runtime code that runs on the thread's own stack meanwhile, as in a system call of
// the goroutine, is the goroutine's.
type thread struct {
	// on is the stack of the goroutine, or of the thread where there are none; nil if unknown.
	on *stack
	// system is the thread's own stack in a Go program, if a call on it was seen since the
	// goroutine began to run: it lies on top of the goroutine's.
	system *stack
}

// ran notes that a hit of a function on a thread was on a stack, if anybody wants to know.
func (p *pairer) ran(ev *parse.Event, fn int, s *stack) {
	if p.sched != nil || p.opt.Kernel != nil {
		p.runs(ev, fn, s)
	}
}

func (p *pairer) runs(ev *parse.Event, fn int, s *stack) {
	system := s.key.isThread || s.goid == 0 && !s.unnamed
	if p.sched != nil {
		var g *schedG
		if !system {
			g = p.proc.goroutine(ev.Time, s.key.id)
			g.goid = cmp.Or(s.goid, g.goid)
		}
		p.at = p.sched.call(ev.Time, ev.PID, ev.TID, g)
	}
	switch threads := p.proc.threads; {
	case p.opt.Kernel == nil:
	case !p.plan.Threads:
		// Without goroutines the thread's stack is the only one it has.
		if s.key.isThread && !p.plan.BySP && p.plan.Funcs[fn].ABI == offsets.SystemV {
			threads[ev.TID] = thread{on: s}
		}
	case system:
		threads[ev.TID] = thread{threads[ev.TID].on, s}
	default:
		threads[ev.TID] = thread{on: s}
	}
}

// whereIs tells what a thread is doing.
func (p *pairer) whereIs(pid, tid int) Where {
	w := Where{Func: -1}
	proc := p.processes[pid]
	if proc == nil {
		return w
	}
	t := proc.threads[tid]
	if t.on != nil {
		w.Known = true
		w.Goid = t.on.goid
		w.take(t.on)
	}
	if t.system != nil && len(t.system.frames) > 0 {
		w.Known = true
		w.take(t.system)
	}
	return w
}

func (w *Where) take(s *stack) {
	if n := len(s.frames); n > 0 {
		f := &s.frames[n-1]
		w.Func, w.Depth, w.Start, w.Inside = f.fn, n-1, f.start, f.inside
	}
}
