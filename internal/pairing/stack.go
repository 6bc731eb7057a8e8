package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// process is the state of a process that has hit probes.
type process struct {
	pid     int
	latest  uint64        // the time of its last event
	biases  []uint64      // the load biases that explain all addresses of its hits so far
	pending []parse.Event // events that wait for its bias
	stacks  map[stackKey]*stack
	lastKey stackKey
	last    *stack               // the stack of lastKey, the last key looked up; nil if it must be looked up again
	bounds  stackBounds          // finds the goroutine of a stack pointer, if an event does not tell it
	gs      map[uint64]*schedG   // by the address of g
	started map[uint64]Goroutine // by traced calls, by the address of g
}

// noProcess is the current process before the first event.
var noProcess = &process{pid: -1}

// process returns the process with a PID, which it adds if needed.
func (p *Stream) process(pid int) *process {
	proc := p.known[pid]
	if proc == nil {
		proc = newProcess(pid)
		p.known[pid] = proc
	}
	return proc
}

func newProcess(pid int) *process {
	return &process{
		pid: pid, stacks: make(map[stackKey]*stack), gs: make(map[uint64]*schedG), started: make(map[uint64]Goroutine),
	}
}

// stackKey identifies a stack of a process: of a g or, outside of Go, of a thread.
type stackKey struct {
	id       uint64 // address of g, or thread ID, or SP of a pseudo-stack (see locate)
	isThread bool
}

// keyOf returns the key of the stack of the g in an event.
func keyOf(ev *parse.Event, f *uprobe.Fields) stackKey { return stackKey{id: ev.Args[f.G]} }

// stack returns the stack with a key, nil if there is none.
func (p *process) stack(key stackKey) *stack {
	if p.last == nil || p.lastKey != key {
		p.lastKey, p.last = key, p.stacks[key]
	}
	return p.last
}

// stackOf returns the stack with a key, which it adds if needed.
func (p *process) stackOf(key stackKey) *stack {
	if p.stack(key) == nil {
		p.last = &stack{key: key, noGoid: true}
		p.stacks[key] = p.last
	}
	return p.last
}

// drop deletes a stack without open calls.
func (p *process) drop(key stackKey) {
	delete(p.stacks, key)
	p.last = nil
}

// stackBounds holds the known stacks of a process's goroutines, sorted by lo. They never overlap, because a new stack
// in the memory of an old one replaces it. In Go before 1.17, a return can be assigned to a goroutine only by its stack
// pointer.
type stackBounds []bound

// bound is the memory of one stack; its SP is in (lo, hi].
type bound struct{ lo, hi, g uint64 }

// above returns the index of the first stack that begins at addr or above.
func (b stackBounds) above(addr uint64) int {
	i, _ := slices.BinarySearchFunc(b, addr, func(x bound, addr uint64) int { return cmp.Compare(x.lo, addr) })
	return i
}

// find returns the stack that contains a stack pointer.
func (b stackBounds) find(sp uint64) (x bound, ok bool) {
	if i := b.above(sp); i > 0 {
		x = b[i-1]
	}
	return x, x.lo < sp && sp <= x.hi
}

// learn sets the bounds of g's stack and deletes the stacks that overlap it. It reports whether that changed anything.
func (b *stackBounds) learn(g, lo, hi uint64) (changed bool) {
	x := bound{lo, hi, g}
	if known, _ := b.find(hi); known == x {
		return false
	}
	*b = slices.DeleteFunc(*b, func(y bound) bool { return y.g == g || y.lo < hi && lo < y.hi })
	*b = slices.Insert(*b, b.above(lo), x)
	return true
}

// move is like learn, but ignores an unknown g, which has no open calls.
func (b *stackBounds) move(g, lo, hi uint64) {
	if slices.ContainsFunc(*b, func(x bound) bool { return x.g == g }) {
		b.learn(g, lo, hi)
	}
}

// forget drops the stack of a goroutine that has ended.
func (b *stackBounds) forget(g uint64) {
	*b = slices.DeleteFunc(*b, func(x bound) bool { return x.g == g })
}

// setGoroutine sets the goroutine of a stack. If the stack belonged to another goroutine, that goroutine has ended,
// because the runtime reuses a g only then. In this case, setGoroutine ends the calls on the stack.
func (p *Stream) setGoroutine(ev *parse.Event, s *stack, goid uint64) {
	if !s.noGoid && s.goid == goid {
		return
	}
	if !s.noGoid {
		p.unwind(ev, s, 0)
	}
	s.goid, s.ended, s.noGoid = goid, false, false
}

// locate returns the key of the stack on which an event happened, and the depth of the event's SP in this stack.
func (p *Stream) locate(ev *parse.Event, f *uprobe.Fields) (key stackKey, depth uint64) {
	sp := ev.Args[f.SP]
	// The stack of a thread or of a signal handler never moves, so ^SP, which grows with the depth, can stand for the
	// depth.
	key, depth = stackKey{uint64(ev.TID), true}, ^sp
	if p.plan.BySP {
		// The program may switch stacks at any time, but they are disjoint and never move. So each SP is the key of a
		// pseudo-stack with one call.
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

// adopt moves calls from the stack of a thread to the stack of a goroutine, after its bounds (lo, hi] became known:
// calls with an SP in these bounds began before, and were taken for calls of the thread. If the goroutine already has
// open calls, adopt does nothing.
func (p *Stream) adopt(thread, g stackKey, lo, hi uint64) {
	from, to := p.proc.stacks[thread], p.proc.stacks[g]
	if from == nil || to != nil && len(to.frames) > 0 {
		return
	}
	var moved []Call
	from.frames = slices.DeleteFunc(from.frames, func(f Call) bool {
		ours := lo < f.SP && f.SP <= hi
		if ours {
			f.fromTop = hi - f.SP
			moved = append(moved, f)
		}
		return ours
	})
	if len(moved) > 0 {
		s := p.proc.stackOf(g)
		for i := range moved {
			within := from.hits.since(&moved[i].Hits)
			moved[i].Hits = s.hits.since(&within) // so that the number of hits since the call began stays the same
		}
		s.frames = append(s.frames, moved...)
	}
}

// KernelEvent is an event of the kernel itself, such as sched_switch, with the state of its thread.
type KernelEvent struct {
	parse.Event
	Known bool   // the stack of the thread is known
	Goid  uint64 // the ID of the thread's goroutine, 0 if it is unknown or the thread had none
	// Call is the innermost traced call that was open on the thread, nil for none. The fields that are set at the end
	// of a call are not valid.
	Call *Call
}

// noteThread notes that a thread has hit a probe of a function while on a stack, for Plan.Sched and for kernel events.
// If Plan.Sched is set, it sets p.sums.
func (p *Stream) noteThread(ev *parse.Event, fn int, s *stack) {
	if !p.plan.Sched && p.opt.Kernel == nil {
		return
	}
	system := s.key.isThread || s.goid == 0 && !s.noGoid
	if p.plan.Sched {
		var g *schedG
		if !system {
			g = p.proc.goroutine(ev.Time, s.key.id)
			g.goid = cmp.Or(s.goid, g.goid)
		}
		p.sums = p.sched.call(ev.Time, ev.PID, ev.TID, g)
	}
	switch t := p.sched.thread(ev.Time, ev.PID, ev.TID); {
	case p.opt.Kernel == nil:
	case !p.plan.Threads:
		// Without goroutines a thread has only one stack.
		if s.key.isThread && !p.plan.BySP && p.plan.Funcs[fn].ABI == offsets.SystemV {
			t.stack = s
		}
	case system:
		t.system = s
	default:
		t.stack, t.system = s, nil
	}
}

// setThread sets the fields that depend on the thread of the event.
func (ev *KernelEvent) setThread(t *thread) {
	if t == nil || t.pid != ev.PID {
		return
	}
	if ev.Known = t.stack != nil; ev.Known {
		ev.Goid = t.stack.goid
	}
	for _, s := range [...]*stack{t.stack, t.system} {
		if s != nil && len(s.frames) > 0 {
			ev.Known, ev.Call = true, &s.frames[len(s.frames)-1]
		}
	}
}
