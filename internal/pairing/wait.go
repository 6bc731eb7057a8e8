package pairing

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Waits holds the time waited for each reason. It is a short slice, because a goroutine waits for few reasons.
type Waits []Waited

// Waited is the time waited for one reason.
type Waited struct {
	Reason int    // index in Plan.Reasons
	Ticks  uint64 // in units of the trace clock
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

// wait is a wait of a goroutine. It is empty if g is nil.
type wait struct {
	g           *schedG
	reason      int
	from, until uint64
}

// waited returns the current wait of g, or an empty one if g does not wait, is on a thread, or if the begin of the wait
// was not seen.
func (g *schedG) waited(now uint64, reason int) (w wait) {
	if g.thread == nil && g.activity == Waiting && g.began > 0 {
		w = wait{g, reason, g.began, now}
	}
	return w
}

// goroutine handles a hit of a runtime probe that shows a change of a goroutine's state.
func (p *Stream) goroutine(ev *parse.Event, f *uprobe.Fields, kind uprobe.Kind) {
	g := p.proc.goroutine(ev.Time, ev.Args[f.G])
	if s := p.proc.stacks[stackKey{id: g.id}]; s != nil && len(s.frames) > 0 {
		s.hits.add(1, p.site, 0, 0) // the hit delays the goroutine, even if another goroutine causes the hit
	}
	reason := 0
	if f.WaitReason >= 0 {
		reason = p.plan.Reason(ev.Args[f.WaitReason])
	}
	switch kind {
	case uprobe.Status:
		status := ev.Args[f.New]
		if g.goid = ev.Args[f.Goid]; f.Lo >= 0 && uint32(status) == StatusRunning {
			p.proc.bounds.learn(g.id, ev.Args[f.Lo], ev.Args[f.Hi])
		}
		p.endWait(p.sched.status(ev.Time, ev.TID, g, ev.Args[f.Old], status, reason))
	case uprobe.Park:
		p.sched.park(ev.Time, ev.TID, g)
	case uprobe.Switch:
		p.endWait(p.sched.swap(ev.Time, ev.TID, g, reason))
	case uprobe.Waiter:
		g.sp, g.stackHi, g.bias = ev.Args[f.SP], ev.Args[f.Hi], p.loadBias
		g.stack = append(g.stack[:0], ev.Args[f.Stack:]...)
	case uprobe.WaitOver:
		g.stack = g.stack[:0]
	}
}

// noStack is the stack of a wait without a Waiter event: the caller is unknown.
var noStack = []uint64{0}

// endWait handles the end of a wait. It adds the wait to the innermost open call of the goroutine, and emits it as a
// call of its reason if Plan.Waits is set.
func (p *Stream) endWait(w wait) {
	if w.g == nil || !p.Within(w.until) || p.limitReached() {
		return
	}
	if c, _ := w.g.innermost(); c != nil {
		c.Waits.add(w.reason, w.until-min(w.from, w.until))
	}
	p.emitWait(w, Returned)
	if w.reason != p.plan.SyscallReason() {
		w.g.stack = w.g.stack[:0]
	}
}

// innermost returns the innermost open call of a goroutine, or nil, and the number of its open calls.
func (g *schedG) innermost() (c *Call, open int) {
	if s := g.process.stacks[stackKey{id: g.id}]; s != nil && len(s.frames) > 0 {
		open = len(s.frames)
		c = &s.frames[open-1]
	}
	return c, open
}

// emitWait emits a wait as a call of the function that stands for its reason. Without Plan.Waits it does nothing. If
// the plan has functions, it does not emit waits outside of calls of these functions.
func (p *Stream) emitWait(w wait, how Outcome) {
	g := w.g
	parent, open := g.innermost()
	if !p.plan.Waits || open == 0 && p.plan.RequestedFuncs() > 0 {
		return
	}
	c := Call{
		Func: p.plan.RequestedFuncs() + w.reason, PID: g.process.pid, Goid: g.goid, Depth: open,
		Start: w.from, End: w.until, Outcome: how, Split: Split{Waiting: w.until - min(w.from, w.until)},
		SP: g.sp, StackHi: g.stackHi, Bias: g.bias, Stack: g.stack,
	}
	if parent != nil {
		c.Parent = parent.ID
	}
	if len(c.Stack) == 0 {
		c.Stack = noStack
	}
	p.account.call(c.Func)
	p.emitEnded(&c)
	if p.plan.RequestedFuncs() == 0 && how == Returned {
		p.countDone(w.until)
	}
}

// leaveWaiting emits the waits of a process that have not ended, in the order in which they began, with Outcome Open.
func (p *Stream) leaveWaiting(proc *process) {
	var left []wait
	for _, g := range proc.gs {
		if w := g.waited(0, g.reason); w.g != nil {
			left = append(left, w)
		}
	}
	slices.SortFunc(left, func(a, b wait) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.g.id, b.g.id)) })
	for _, w := range left {
		p.emitWait(w, Open)
	}
}
