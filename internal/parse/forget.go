package parse

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

// Processes are those that events have come from and that were not forgotten since.
func (p *pairer) Processes() []int { return slices.Collect(maps.Keys(p.processes)) }

// restart is a hit where a process begins to run the program; first: nothing is known of it.
func (p *pairer) restart(pid int, first bool) {
	if !first {
		p.leaveOpen(func(of int) bool { return of == pid })
	}
}

// Forget drops what is known of processes that have ended, all of whose events have come:
// another may get the number. Their calls that are open stay so.
func (p *pairer) Forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.processes, func(pid int, _ bool) bool { return ended[pid] })
	p.lastPID = -1
}

// Finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *pairer) Finish() { p.leaveOpen(func(int) bool { return true }) }

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
