package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Waits are times that were waited, in units of the trace clock, by the index of the reason in
// Plan.Reasons. There are few that a goroutine ever has.
type Waits []Waited

// Waited is what was waited for one reason.
type Waited struct {
	Reason int
	Ticks  uint64
}

func (w *Waits) add(reason int, ticks uint64) {
	for i := range *w {
		if (*w)[i].Reason == reason {
			(*w)[i].Ticks += ticks
			return
		}
	}
	*w = append(*w, Waited{reason, ticks})
}

// wait is a wait that has ended, unless g is nil.
type wait struct {
	g           *schedG
	reason      int
	from, until uint64
}

// waited is the wait that ends now, if g waits off its thread and was seen to begin.
func (g *schedG) waited(now uint64, reason int) (w wait) {
	if g.on == nil && g.does == Waiting && g.began > 0 {
		w = wait{g, reason, g.began, now}
	}
	return w
}

// goroutine takes a hit in the runtime that tells what becomes of a goroutine.
func (p *Stream) goroutine(ev *parse.Event, f *uprobe.Fields, kind uprobe.Kind) {
	g := p.proc.goroutine(ev.Time, ev.Args[f.G])
	if s := p.proc.stacks[stackKey{id: g.id}]; s != nil && len(s.frames) > 0 {
		s.hits.add(1, p.site, 0, 0) // it takes its time, whoever makes it
	}
	reason := 0
	if f.Why >= 0 {
		reason = p.plan.Reason(ev.Args[f.Why])
	}
	switch kind {
	case uprobe.Status:
		status := ev.Args[f.New]
		if g.goid = ev.Args[f.Goid]; f.Lo >= 0 && uint32(status) == statusRunning {
			p.proc.bounds.learn(g.id, ev.Args[f.Lo], ev.Args[f.Hi])
		}
		p.waited(p.sched.status(ev.Time, ev.TID, g, ev.Args[f.Old], status, reason))
	case uprobe.Park:
		p.sched.park(ev.Time, ev.TID, g)
	case uprobe.Switch:
		p.waited(p.sched.swap(ev.Time, ev.TID, g, reason))
	case uprobe.Waiter:
		g.sp, g.stackHi, g.bias = ev.Args[f.SP], ev.Args[f.Hi], p.bias
		g.stack = append(g.stack[:0], ev.Args[f.Stack:]...)
	case uprobe.WaitOver:
		g.stack = g.stack[:0]
	}
}

// noStack is the stack of a wait that did not come by a Waiter: nobody knows the caller.
var noStack = []uint64{0}

// waited takes a wait that has ended: it is the innermost call's, and, if these are told, a
// call of its reason.
func (p *Stream) waited(w wait) {
	if w.g == nil || !p.Within(w.until) || p.full() {
		return
	}
	if c, _ := w.g.within(); c != nil {
		c.Waits.add(w.reason, w.until-min(w.from, w.until))
	}
	p.tellWait(w, Returned)
	if w.reason != p.plan.InKernel() {
		w.g.stack = w.g.stack[:0]
	}
}

// within is the innermost call of a goroutine that is open, nil if none is, and how many are.
func (g *schedG) within() (c *Call, open int) {
	if s := g.of.stacks[stackKey{id: g.id}]; s != nil && len(s.frames) > 0 {
		open = len(s.frames)
		c = &s.frames[open-1].Call
	}
	return c, open
}

// tellWait makes a call of a wait, if waits are told.
func (p *Stream) tellWait(w wait, how Outcome) {
	g := w.g
	within, open := g.within()
	if p.plan.Waits == 0 || open == 0 && p.plan.Asked() > 0 {
		return
	}
	c := Call{
		Func: p.plan.Asked() + w.reason, PID: g.of.pid, Goid: g.goid, Depth: open,
		Start: w.from, End: w.until, Outcome: how, Split: Split{Waiting: w.until - min(w.from, w.until)},
		SP: g.sp, StackHi: g.stackHi, Bias: g.bias, Stack: g.stack,
	}
	if within != nil {
		c.Parent = within.ID
	}
	if len(c.Stack) == 0 {
		c.Stack = noStack
	}
	p.account.call(c.Func)
	p.ended(&c)
	if p.plan.Asked() == 0 && how == Returned {
		p.finished(w.until)
	}
}

// leaveWaiting tells of the waits of a process that have not ended, in the order in which they
// began.
func (p *Stream) leaveWaiting(proc *process) {
	var left []wait
	for _, g := range proc.gs {
		if w := g.waited(0, g.reason); w.g != nil {
			left = append(left, w)
		}
	}
	slices.SortFunc(left, func(a, b wait) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.g.id, b.g.id)) })
	for _, w := range left {
		p.tellWait(w, Open)
	}
}
