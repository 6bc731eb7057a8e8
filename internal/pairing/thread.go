package pairing

import (
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// KernelField is a value of a kernel event.
type KernelField = parse.KernelField

// KernelEvent is an event of the kernel itself.
type KernelEvent struct {
	parse.KernelEvent
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

// ran notes that a hit of a function on a thread was on a stack.
func (p *pairer) ran(ev *parse.Event, fn int, s *stack) {
	system := s.key.isThread || s.goid == 0
	if p.sched != nil {
		var g *schedG
		if !system {
			g = p.proc.gs.of(ev.Time, s.key.id)
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
