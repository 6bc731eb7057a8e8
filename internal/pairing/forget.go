package pairing

import (
	"cmp"
	"maps"
	"slices"
)

// forget drops the state of processes that have ended, after their last events, because other processes may get their
// PIDs. It ends open calls as leaveOpen does.
func (p *Stream) forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.known, func(pid int, _ *process) bool { return ended[pid] })
}

// leaveOpen ends the open calls of the processes for which of returns true, in the order in which the calls began, and
// drops the other state of these processes. The Outcome of a call is Unwound if its goroutine has ended, and otherwise
// Open. If a gap makes this uncertain, it is Abandoned.
func (p *Stream) leaveOpen(of func(pid int) bool) {
	var left []*Call
	for pid, proc := range p.known {
		if !of(pid) {
			continue
		}
		p.leaveWaiting(proc)
		for _, s := range proc.stacks {
			for n := range s.frames {
				c := s.complete(n)
				if c.Split = (Split{}); s.ended {
					c.Outcome = Unwound
				}
				left = append(left, c)
			}
		}
		p.known[pid] = newProcess(pid)
		p.known[pid].biases = proc.biases
	}
	p.leavePairs(of)
	p.proc, p.open = noProcess, p.open-len(left)
	maps.DeleteFunc(p.sched, func(_ int, t *thread) bool { return of(t.pid) })
	slices.SortFunc(left, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth))
	})
	for _, c := range left {
		c.Outcome = p.outcome(c, cmp.Or(c.Outcome, Open), ^uint64(0))
		p.emitEnded(c)
	}
}

// gap is a period in which some events of a function were disarmed. until is ^0 if it has not ended.
type gap struct{ from, until uint64 }

// has reports whether a time is in one of the gaps.
func has(gaps []gap, time uint64) bool {
	return slices.ContainsFunc(gaps, func(g gap) bool { return g.from <= time && time < g.until })
}

// gaps returns the gaps of a function's Counter events if counters is true, else of the events that time its calls.
func (p *Stream) gaps(fn int, counters bool) *[]gap {
	if counters {
		return &p.uncounted[fn]
	}
	return &p.retired[fn]
}

// Disarm notes that events of functions are disarmed from a time of the trace clock on: if counters is true, their
// Counter events, else the events that time calls. Later hits, of probes that are being removed or placed, are not
// calls. A timed call that is open is Abandoned, unless its return is seen before [Stream.Arm].
//
// If several gaps of a function ended before the last event, only the latest of these matters: a call that began before
// an earlier gap also began before the latest one. The last event may be long before the present.
func (p *Stream) Disarm(funcs []int, counters bool, from uint64) {
	for _, fn := range funcs {
		known := p.gaps(fn, counters)
		for len(*known) > 1 && (*known)[1].until < p.latest {
			*known = slices.Delete(*known, 0, 1)
		}
		*known = append(*known, gap{from, ^uint64(0)})
	}
}

// Arm notes that events of functions are armed from a time of the trace clock on. If they were not armed before, earlier
// hits are not calls.
func (p *Stream) Arm(funcs []int, counters bool, at uint64) {
	for _, fn := range funcs {
		known := p.gaps(fn, counters)
		if len(*known) == 0 {
			*known = []gap{{}}
		}
		(*known)[len(*known)-1].until = at
	}
}

// outcome returns the Outcome of a call that ends at a time. This is how, the apparent Outcome, or Abandoned if a gap of
// the function makes how uncertain: if the call began before the gap, a return after it may be the return of another
// call, and a call that seems to be unwound may have returned during the gap.
func (p *Stream) outcome(c *Call, how Outcome, at uint64) Outcome {
	for _, g := range p.retired[c.Func] {
		switch {
		case c.Start > g.until, how == Returned && at <= g.until, how == Unwound && at <= g.from:
		default:
			return Abandoned
		}
	}
	return how
}
