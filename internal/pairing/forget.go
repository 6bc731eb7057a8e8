package pairing

import (
	"cmp"
	"maps"
	"slices"
)

// forget drops what is known of processes that have ended, all of whose events have come:
// another may get the number. Their calls that are open stay so.
func (p *Stream) forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.known, func(pid int, _ *process) bool { return ended[pid] })
}

// finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *Stream) finish() { p.leaveOpen(func(int) bool { return true }) }

// leaveOpen ends the calls of some processes, in the order in which they began, and drops
// all else that is known of them.
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
	p.proc, p.open = nowhere, p.open-len(left)
	maps.DeleteFunc(p.sched, func(_ int, t *thread) bool { return of(t.pid) })
	slices.SortFunc(left, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth))
	})
	for _, c := range left {
		c.Outcome = p.trusted(c, cmp.Or(c.Outcome, Open), ^uint64(0))
		p.ended(c)
	}
}

// retirement is the time, of the trace clock, in which the events that time a function
// were disarmed.
type retirement struct{ from, until uint64 }

// retirements are those of a function, in order. Of those that are over, only the last is needed: a call that
// began before any of them began before that, too.
type retirements []retirement

func (r retirements) has(time uint64) bool {
	return slices.ContainsFunc(r, func(r retirement) bool { return r.from <= time && time < r.until })
}

// add adds one; a second time from is that of one whose end was not known before. What was read, up to
// latest, may be older than what is done now.
func (r retirements) add(next retirement, latest uint64) retirements {
	r = slices.DeleteFunc(r, func(known retirement) bool { return known.from == next.from })
	for len(r) > 1 && r[1].until < latest {
		r = slices.Delete(r, 0, 1)
	}
	return append(r, next)
}

// Retire says that the events which time functions were disarmed from one time of the trace clock
// until another, which is ^0 as long as that is under way. Of calls that were open meanwhile
// nothing tells the end: they are Abandoned. Those that begin meanwhile are none, unless Counters count
// them: the functions are said to be timed until from. They may be timed again later.
func (p *Stream) Retire(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		p.retired[fn] = p.retired[fn].add(retirement{from, until}, p.latest)
	}
}

// Uncount says that Counters of functions do not count from a time of the trace clock on: they are being disarmed.
func (p *Stream) Uncount(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, until}, p.latest)
	}
}

// Count says that Counters of functions count from a time of the trace clock on.
func (p *Stream) Count(funcs []int, at uint64) {
	for _, fn := range funcs {
		from := uint64(0)
		if known := p.uncounted[fn]; len(known) > 0 {
			from = known[len(known)-1].from
		}
		p.uncounted[fn] = p.uncounted[fn].add(retirement{from, at}, p.latest)
	}
}

// trusted tells how a call ended that seems to have ended at a time. The return of a call
// that began before its function was retired, seen after it is timed again, may be another
// call's; and it is not unwound if only nothing has told of its return.
func (p *Stream) trusted(c *Call, how Outcome, at uint64) Outcome {
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
