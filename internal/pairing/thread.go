package pairing

import (
	"github.com/ftgo/ftgo/internal/uprobe"
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

// threadKey names a thread, by process too: numbers are used again.
type threadKey struct{ pid, tid int }

// thread is what a thread is known to be running.
//
// A thread goes on with another goroutine only in runtime.execute, and leaves one only for
// runtime.schedule (or, for a coroutine, in coroswitch_m): where these have runtime probes in
// the plan, what a thread runs is known at all times between, from the first hit on
// it. Runtime code that runs on the thread's own stack meanwhile, as in a system call of
// the goroutine, is the goroutine's.
type thread struct {
	// on is the stack of the goroutine, or of the thread where there are none.
	on    stackKey
	known bool
	// system is the thread's own stack in a Go program, if a call on it was seen since the
	// goroutine began to run: it lies on top of the goroutine's.
	system    stackKey
	hasSystem bool
}

// ran notes that a hit of a function on a thread was on a stack.
func (p *pairer) ran(ev *parse.Event, fn int, key stackKey, goid uint64) {
	if p.sched != nil {
		p.at = p.sched.call(ev.Time, ev.TID, key, key.isThread || goid == 0)
	}
	switch {
	case p.threads == nil:
	case !p.plan.Threads:
		// Without goroutines the thread's stack is the only one it has.
		if key.isThread && !p.plan.BySP && p.plan.Funcs[fn].ABI == offsets.SystemV {
			*p.thread(ev) = thread{on: key, known: true}
		}
	case key.isThread || goid == 0:
		t := p.thread(ev)
		t.system, t.hasSystem = key, true
	default:
		*p.thread(ev) = thread{on: key, known: true}
	}
}

func (p *pairer) thread(ev *parse.Event) *thread {
	key := threadKey{ev.PID, ev.TID}
	t := p.threads[key]
	if t == nil {
		t = &thread{}
		p.threads[key] = t
	}
	return t
}

// resumed is a hit where a thread goes on with a goroutine, yielded one where it leaves it.
func (p *pairer) resumed(ev *parse.Event, f *uprobe.Fields) {
	if p.threads == nil {
		return
	}
	key := keyOf(ev, f)
	*p.thread(ev) = thread{on: key, known: true}
	p.is(ev, p.stackOf(key), ev.Args[f.Goid])
}

func (p *pairer) yielded(ev *parse.Event) {
	if p.threads != nil {
		*p.thread(ev) = thread{}
	}
}

// where tells what a thread is doing.
func (p *pairer) where(pid, tid int) Where {
	w := Where{Func: -1}
	t := p.threads[threadKey{pid, tid}]
	if t == nil {
		return w
	}
	if t.known {
		w.Known = true
		if s := p.stacks[t.on]; s != nil {
			w.take(s)
		}
	}
	if s := p.stacks[t.system]; t.hasSystem && s != nil && len(s.frames) > 0 {
		goid := w.Goid
		w.Known = true
		w.take(s)
		w.Goid = goid
	}
	return w
}

func (w *Where) take(s *stack) {
	w.Goid = s.goid
	if n := len(s.frames); n > 0 {
		f := &s.frames[n-1]
		w.Func, w.Depth, w.Start, w.Inside = f.fn, n-1, f.start, f.inside
	}
}
