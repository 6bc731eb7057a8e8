package parse

import (
	"maps"
	"slices"
)

// meet notes where an event is from, and tells whether none had come from there before.
func (p *Pairer) meet(pid int) (first bool) {
	first = !p.processes[pid]
	p.processes[pid], p.lastPID = true, pid
	return first
}

// Processes are those that events have come from and that were not forgotten since.
func (p *Pairer) Processes() []int { return slices.Collect(maps.Keys(p.processes)) }

func (p *Pairer) tellBegun(ev *Event, fn int) {
	if p.begun != nil {
		p.begun(ev.PID, fn)
	}
}

// restart is a hit where a process begins to run the program; first: nothing is known of it.
func (p *Pairer) restart(pid int, first bool) {
	if !first {
		p.leaveOpen(func(of int) bool { return of == pid })
	}
}

// Forget drops what is known of processes that have ended, all of whose events have come:
// another may get the number. Their calls that are open stay so.
func (p *Pairer) Forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.processes, func(pid int, _ bool) bool { return ended[pid] })
	p.lastPID = -1
}

// Finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *Pairer) Finish() { p.leaveOpen(func(int) bool { return true }) }

// leaveOpen ends the calls of some processes, in the order in which they began, and drops
// their stacks.
func (p *Pairer) leaveOpen(of func(pid int) bool) {
	var left []Call
	for key, s := range p.stacks {
		if !of(key.pid) {
			continue
		}
		how := Open
		if s.ended {
			how = Unwound
		}
		for n := range s.frames {
			var c Call
			p.fill(&c, s, n, key.pid)
			c.Outcome = p.trusted(&s.frames[n], how, ^uint64(0))
			left = append(left, c)
		}
		delete(p.stacks, key)
	}
	p.last = nil
	maps.DeleteFunc(p.assembly, func(key, _ stackKey) bool { return of(key.pid) })
	maps.DeleteFunc(p.bounds, func(pid int, _ *stackBounds) bool { return of(pid) })
	maps.DeleteFunc(p.threads, func(key threadKey, _ *thread) bool { return of(key.pid) })
	if p.sched != nil {
		p.sched.forget(of)
	}
	slices.SortFunc(left, func(a, b Call) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return a.Depth - b.Depth
	})
	for i := range left {
		p.emit(&left[i])
	}
}
