package pairing

import (
	"cmp"
	"maps"
	"slices"
)

// forget drops the state of processes that have ended, after their last events: other processes may get their PIDs.
// Their open calls end with Outcome Open.
func (p *Stream) forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.known, func(pid int, _ *process) bool { return ended[pid] })
}

// finish ends the remaining calls of all processes.
func (p *Stream) finish() { p.leaveOpen(func(int) bool { return true }) }

// leaveOpen ends the open calls of some processes, in the order in which they began: with Outcome Unwound if their
// goroutine has ended, else Open. It drops the other state of these processes.
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
	}
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

// retirement is a period of the trace clock in which the events that time a function were disarmed. until is ^0 if it
// has not ended.
type retirement struct{ from, until uint64 }

// retirements holds the retirements of a function, in order. Of the ones that ended before the last event, only the
// latest is kept: a call that began before an earlier one also began before the latest.
type retirements []retirement

// has reports whether a time is in a retirement.
func (r retirements) has(time uint64) bool {
	return slices.ContainsFunc(r, func(r retirement) bool { return r.from <= time && time < r.until })
}

// add adds a retirement, or sets the end of the one with the same from. latest is the time of the last event; it may be
// long before the present, so that older retirements are still needed.
func (r retirements) add(next retirement, latest uint64) retirements {
	r = slices.DeleteFunc(r, func(known retirement) bool { return known.from == next.from })
	for len(r) > 1 && r[1].until < latest {
		r = slices.Delete(r, 0, 1)
	}
	return append(r, next)
}

// Retire notes that the events that time functions were disarmed from one time of the trace clock to another. While
// they are disarmed, until is ^0; when they are armed again, the caller repeats Retire with the same from and the end.
// A call that was open at from is Abandoned, unless its return is seen before until. Hits between from and until, of
// probes that are being removed or placed, do not begin calls.
func (p *Stream) Retire(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		p.retired[fn] = p.retired[fn].add(retirement{from, until}, p.latest)
	}
}

// Uncount notes that hits of Counter events of functions are not to be counted from a time of the trace clock on,
// because the events are disarmed.
func (p *Stream) Uncount(funcs []int, from uint64) {
	for _, fn := range funcs {
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, ^uint64(0)}, p.latest)
	}
}

// Count notes that hits of Counter events of functions are to be counted again from a time of the trace clock on.
func (p *Stream) Count(funcs []int, at uint64) {
	for _, fn := range funcs {
		from := uint64(0)
		if known := p.uncounted[fn]; len(known) > 0 {
			from = known[len(known)-1].from
		}
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, at}, p.latest)
	}
}

// outcome returns how, the apparent outcome of a call at a time, or Abandoned if a retirement of its function makes
// that uncertain: if the call began before the retirement, a return after it may be the return of another call, and
// what seems to be an unwound call may have returned during the retirement.
func (p *Stream) outcome(c *Call, how Outcome, at uint64) Outcome {
	if len(p.retired) == 0 {
		return how
	}
	for _, r := range p.retired[c.Func] {
		switch {
		case c.Start > r.until, how == Returned && at <= r.until, how == Unwound && at <= r.from:
		default:
			return Abandoned
		}
	}
	return how
}
