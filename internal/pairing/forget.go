package pairing

import (
	"cmp"
	"maps"
	"slices"
)

// meet notes where an event is from, and tells whether none had come from there before.
func (p *pairer) meet(pid int) (first bool) {
	first = !p.processes[pid]
	p.processes[pid], p.lastPID = true, pid
	return first
}

// forget drops what is known of processes that have ended, all of whose events have come:
// another may get the number. Their calls that are open stay so.
func (p *pairer) forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.processes, func(pid int, _ bool) bool { return ended[pid] })
	p.lastPID = -1
}

// finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *pairer) finish() { p.leaveOpen(func(int) bool { return true }) }

// openFrame is a call that is left, of a stack at depth n.
type openFrame struct {
	*stack
	start  uint64
	pid, n int
}

// leaveOpen ends the calls of some processes, in the order in which they began, and drops
// their stacks.
func (p *pairer) leaveOpen(of func(pid int) bool) {
	var left []openFrame
	for key, s := range p.stacks {
		if !of(key.pid) {
			continue
		}
		for n := range s.frames {
			left = append(left, openFrame{s, s.frames[n].start, key.pid, n})
		}
		delete(p.stacks, key)
	}
	p.last, p.open = nil, p.open-len(left)
	maps.DeleteFunc(p.assembly, func(key, _ stackKey) bool { return of(key.pid) })
	maps.DeleteFunc(p.bounds, func(pid int, _ *stackBounds) bool { return of(pid) })
	maps.DeleteFunc(p.threads, func(key threadKey, _ *thread) bool { return of(key.pid) })
	if p.sched != nil {
		p.sched.forget(of)
	}
	slices.SortFunc(left, func(a, b openFrame) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.n, b.n))
	})
	for _, f := range left {
		how := Open
		if f.ended {
			how = Unwound
		}
		p.fill(&p.call, f.stack, f.n, f.pid)
		p.call.Outcome = p.trusted(&f.frames[f.n], how, ^uint64(0))
		p.ended()
	}
}

// retirement is the time, of the trace clock, in which the events that time a function
// were disarmed.
type retirement struct{ from, until uint64 }

// Retire says that the events which time functions were disarmed from one time of the trace clock
// until another, which is ^0 as long as that is under way. Of calls that were open meanwhile
// nothing tells the end: they are Abandoned. The functions may be timed again later.
func (s *Stream) Retire(funcs []int, from, until uint64) {
	if s.pairer.retired == nil {
		s.pairer.retired = make(map[int]retirement)
	}
	for _, fn := range funcs {
		s.pairer.retired[fn] = retirement{from, until}
	}
}

// trusted tells how a call ended that seems to have ended at a time. The return of a call
// that began before its function was retired, seen after it is timed again, may be another
// call's; and it is not unwound if only nothing has told of its return.
func (p *pairer) trusted(f *frame, how Outcome, at uint64) Outcome {
	r, ok := p.retired[f.fn]
	switch {
	case !ok || f.start > r.until:
		return how
	case how == Returned && at <= r.until, how == Unwound && at <= r.from:
		return how
	}
	return Abandoned
}
