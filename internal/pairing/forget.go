package pairing

import (
	"cmp"
	"maps"
	"slices"
)

// meet notes where an event is from, and tells whether none had come from there before.
func (p *pairer) meet(pid int) (first bool) {
	if p.processes[pid] == nil {
		first, p.processes[pid] = true, newProcess(pid)
	}
	p.proc = p.processes[pid]
	return first
}

// forget drops what is known of processes that have ended, all of whose events have come:
// another may get the number. Their calls that are open stay so.
func (p *pairer) forget(ended map[int]bool) {
	p.leaveOpen(func(pid int) bool { return ended[pid] })
	maps.DeleteFunc(p.processes, func(pid int, _ *process) bool { return ended[pid] })
}

// finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *pairer) finish() { p.leaveOpen(func(int) bool { return true }) }

// openFrame is a call that is left, of a stack at depth n.
type openFrame struct {
	*stack
	n int
}

// leaveOpen ends the calls of some processes, in the order in which they began, and drops
// all else that is known of them.
func (p *pairer) leaveOpen(of func(pid int) bool) {
	var left []openFrame
	for pid, proc := range p.processes {
		if !of(pid) {
			continue
		}
		p.leaveWaiting(proc)
		for _, s := range proc.stacks {
			for n := range s.frames {
				left = append(left, openFrame{s, n})
			}
		}
		p.processes[pid] = newProcess(pid)
	}
	p.proc, p.open = nowhere, p.open-len(left)
	maps.DeleteFunc(p.sched, func(_ int, t *schedThread) bool { return of(t.pid) })
	slices.SortFunc(left, func(a, b openFrame) int {
		return cmp.Or(cmp.Compare(a.frames[a.n].start, b.frames[b.n].start), cmp.Compare(a.n, b.n))
	})
	for _, f := range left {
		how := Open
		if f.ended {
			how = Unwound
		}
		p.fill(&p.call, f.stack, f.n)
		p.call.Outcome = p.trusted(&f.frames[f.n], how, ^uint64(0))
		p.ended()
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
func (s *Stream) Retire(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		s.pairer.retired[fn] = s.pairer.retired[fn].add(retirement{from, until}, s.latest)
	}
}

// Uncount says that Counters of functions do not count from a time of the trace clock on: they are being disarmed.
func (s *Stream) Uncount(funcs []int, from, until uint64) {
	for _, fn := range funcs {
		s.pairer.uncounted[fn] = s.pairer.uncounted[fn].add(retirement{from, until}, s.latest)
	}
}

// Count says that Counters of functions count from a time of the trace clock on.
func (s *Stream) Count(funcs []int, at uint64) {
	for _, fn := range funcs {
		from := uint64(0)
		if known := s.pairer.uncounted[fn]; len(known) > 0 {
			from = known[len(known)-1].from
		}
		s.pairer.uncounted[fn] = s.pairer.uncounted[fn].add(retirement{from, at}, s.latest)
	}
}

// trusted tells how a call ended that seems to have ended at a time. The return of a call
// that began before its function was retired, seen after it is timed again, may be another
// call's; and it is not unwound if only nothing has told of its return.
func (p *pairer) trusted(f *frame, how Outcome, at uint64) Outcome {
	if len(p.retired) == 0 {
		return how
	}
	for _, r := range p.retired[f.fn] {
		switch {
		case f.start > r.until, how == Returned && at <= r.until, how == Unwound && at <= r.from:
		default:
			return Abandoned
		}
	}
	return how
}
