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

// finish ends the remaining calls of all processes.
func (p *Stream) finish() { p.leaveOpen(func(int) bool { return true }) }

// leaveOpen ends the open calls of the processes for which of returns true, in the order in which the calls began, and
// drops the other state of these processes. The Outcome of a call is Unwound if its goroutine has ended, and otherwise
// Open. If a retirement makes this uncertain, it is Abandoned.
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

// retirements holds the retirements of a function, in order. If several of them ended before the last event, it holds
// only the latest of these: a call that began before an earlier retirement also began before the latest one.
type retirements []retirement

// has reports whether a time is in a retirement.
func (r retirements) has(time uint64) bool {
	return slices.ContainsFunc(r, func(r retirement) bool { return r.from <= time && time < r.until })
}

// add adds a retirement. If r has a retirement with the same from, add replaces it. latest is the time of the last
// event, which may be long before the present: events that were not read yet need older retirements.
func (r retirements) add(next retirement, latest uint64) retirements {
	r = slices.DeleteFunc(r, func(known retirement) bool { return known.from == next.from })
	for len(r) > 1 && r[1].until < latest {
		r = slices.Delete(r, 0, 1)
	}
	return append(r, next)
}

// Retire notes that the events that time functions were disarmed from one time of the trace clock to another. While
// they are disarmed, until is ^0; when they are armed again, the caller calls Retire again, with the same from and with
// the end as until. A call that was open at from is Abandoned, unless its return is seen before until. Hits between
// from and until, of probes that are being removed or placed, do not begin calls.
func (p *Stream) Retire(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		p.retired[fn] = p.retired[fn].add(retirement{from, until}, p.latest)
	}
}

// Uncount notes that the Counter events of functions are disarmed from a time of the trace clock on. Later hits of
// these events are not counted.
func (p *Stream) Uncount(funcs []int, from uint64) {
	for _, fn := range funcs {
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, ^uint64(0)}, p.latest)
	}
}

// Count notes that the Counter events of functions are armed again from a time of the trace clock on. Later hits of
// these events are counted.
func (p *Stream) Count(funcs []int, at uint64) {
	for _, fn := range funcs {
		from := uint64(0)
		if known := p.uncounted[fn]; len(known) > 0 {
			from = known[len(known)-1].from
		}
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, at}, p.latest)
	}
}

// outcome returns the Outcome of a call that ends at a time. This is how, the apparent Outcome, or Abandoned if a
// retirement of the function makes how uncertain: if the call began before the retirement, a return after the
// retirement may be the return of another call, and a call that seems to be unwound may have returned during the
// retirement.
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
