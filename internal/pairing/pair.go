package pairing

import (
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// event handles the next event. Events come in order of time within each goroutine. bias is the load bias of the
// process.
func (p *Stream) event(ev *parse.Event, bias uint64) {
	p.account.events++
	if ev.PID != p.proc.pid {
		p.proc = p.process(ev.PID)
	}
	p.proc.latest, p.loadBias = ev.Time, bias
	pe := &p.plan.Events[ev.Format]
	i, ok := p.recent[ev.Format], true
	if pe.Sites[i].Addr != ev.Addr-bias {
		if i, ok = p.sites[ev.Format][ev.Addr-bias]; !ok {
			p.account.unknown++
			return
		}
		p.recent[ev.Format] = i
	}
	if !p.Within(ev.Time) || p.limitReached() {
		return
	}
	p.account.sites[ev.Format][i].hits++
	site := &pe.Sites[i]
	p.site, p.words, p.faults = site, pe.Words, 0
	if pe.Faults {
		p.faults = p.account.fault(pe, ev.Format, i, ev.Args)
	}
	fn := site.Func
	switch site.Kind {
	case uprobe.Entry, uprobe.EntryJump:
		switch taken := p.taken(pe, site, ev); {
		case taken && p.pairs != nil:
			p.depart(ev, &pe.Fields, fn)
		case taken:
			p.enter(ev, &pe.Fields, site)
		default:
			p.account.noCall(site.Func)
		}
	case uprobe.Arrival, uprobe.ArrivalJump:
		if p.taken(pe, site, ev) {
			p.arrive(ev, &pe.Fields, fn)
		}
	case uprobe.Point:
		p.count(ev, site)
	case uprobe.Counter, uprobe.CounterJump:
		if p.taken(pe, site, ev) && !has(p.uncounted[fn], ev.Time) {
			p.account.funcs[fn].Calls++
		} else {
			p.account.funcs[fn].noCalls++
		}
	case uprobe.Return, uprobe.TailJump, uprobe.CondTail:
		if p.taken(pe, site, ev) {
			p.leave(ev, &pe.Fields, fn)
		} else if key, _ := p.locate(ev, &pe.Fields); p.proc.stack(key) != nil {
			p.proc.stack(key).hits.add(1, p.site, p.words, p.faults)
		}
	case uprobe.GoroutineEnd:
		if fn == uprobe.ProgramStart {
			// The process may have executed the program again, which ended its goroutines.
			for _, g := range slices.Sorted(maps.Keys(p.proc.started)) {
				p.goexit(ev.Time, g)
			}
			p.leaveOpen(func(of int) bool { return of == ev.PID })
			return
		}
		if s := p.proc.stacks[keyOf(ev, &pe.Fields)]; s != nil {
			p.unwind(ev, s, 0)
			s.ended = true
		}
		p.proc.bounds.forget(ev.Args[pe.Fields.G])
		p.goexit(ev.Time, ev.Args[pe.Fields.G])
	case uprobe.Creation:
		p.created(ev, &pe.Fields)
	case uprobe.Recovery:
		if s := p.proc.stacks[keyOf(ev, &pe.Fields)]; s != nil {
			// SP is the stack pointer of the call that recovered the panic. Callees of that call are deeper, at least
			// by the return address.
			p.unwind(ev, s, ev.Args[pe.Fields.Hi]-ev.Args[pe.Fields.SP]+p.plan.Processor.Machine().Frame.Pushed)
		}
	case uprobe.Resume:
		if p.opt.Kernel != nil {
			s := p.proc.stackOf(keyOf(ev, &pe.Fields))
			t := p.sched.thread(ev.Time, ev.PID, ev.TID)
			t.stack, t.system = s, nil
			p.setGoroutine(ev, s, ev.Args[pe.Fields.Goid])
		}
	case uprobe.Yield:
		t := p.sched.thread(ev.Time, ev.PID, ev.TID)
		t.stack, t.system = nil, nil
	case uprobe.Status, uprobe.Park, uprobe.Switch, uprobe.Waiter, uprobe.WaitOver:
		p.goroutine(ev, &pe.Fields, site.Kind)
	case uprobe.StackMove:
		p.proc.bounds.move(ev.Args[pe.Fields.G], ev.Args[pe.Fields.Lo], ev.Args[pe.Fields.Hi])
	}
}

// taken reports whether a hit begins or ends a call. If the hit's instruction is a conditional jump, the condition must
// hold.
func (p *Stream) taken(e *uprobe.Event, site *uprobe.Site, ev *parse.Event) bool {
	switch site.Kind {
	case uprobe.EntryJump, uprobe.CounterJump, uprobe.CondTail, uprobe.ArrivalJump:
		return p.plan.Processor.Taken(site.Cond, ev.Args[e.Fields.Flags])
	}
	return true
}

// count handles a hit at the begin of a call that is only counted, and not paired with its end. While the function's
// probes are disarmed, the hit is no call.
func (p *Stream) count(ev *parse.Event, site *uprobe.Site) {
	if has(p.retired[site.Func], ev.Time) {
		p.account.noCall(site.Func)
		return
	}
	p.account.call(site.Func)
	p.countDone(ev.Time)
}

// enter handles a hit at an entry. If the event has no SP, the call is only counted. If the function has jumped to its
// own start, or if its probes are disarmed, the hit is no call.
func (p *Stream) enter(ev *parse.Event, f *uprobe.Fields, site *uprobe.Site) {
	if f.SP < 0 {
		p.count(ev, site)
		return
	}
	fn := site.Func
	key, depth := p.locate(ev, f)
	s := p.proc.stackOf(key)
	if f.Goid >= 0 && !key.isThread {
		p.setGoroutine(ev, s, ev.Args[f.Goid])
	}
	target := &p.plan.Funcs[fn]
	if target.Restarts && len(s.frames) > 0 {
		if top := &s.frames[len(s.frames)-1]; top.Func == fn && top.fromTop == depth {
			p.account.noCall(site.Func)
			return
		}
	}
	if has(p.retired[fn], ev.Time) {
		p.account.noCall(site.Func)
		p.unwind(ev, s, depth)
		return
	}
	p.account.call(site.Func)
	p.unwind(ev, s, depth)
	p.noteThread(ev, fn, s)
	if p.open >= p.maxOpen {
		p.account.unfollowed++
		if len(s.frames) == 0 { // do not keep an empty stack for each goroutine
			p.proc.drop(key)
		}
		return
	}
	p.begun++
	p.open++
	// The frame still has the fields of an earlier call, and all of them are set. Frames are modified in place and emitted
	// without a copy, because copying was the most expensive part of pairing.
	n := len(s.frames)
	s.frames = slices.Grow(s.frames, 1)[:n+1]
	c := &s.frames[n]
	c.ID, c.Parent, c.Root, c.Func, c.fromTop, c.SP = p.begun, 0, p.begun, fn, depth, ev.Args[f.SP]
	c.PID, c.TID, c.CPU, c.Bias, c.Start, c.End, c.Outcome = ev.PID, ev.TID, ev.CPU, p.loadBias, ev.Time, 0, Returned
	c.Inside, c.StackHi = false, 0
	c.Waits = c.Waits[:0]
	c.Stack, c.Args, c.Results = nil, nil, nil
	if n > 0 {
		c.Inside = s.frames[n-1].Inside || p.plan.Funcs[s.frames[n-1].Func].Role.Inside
	} else if p.plan.Follow && !key.isThread {
		if o := p.proc.originOf(key.id, s.goid); o.From != 0 {
			c.Parent, c.Root, c.Inside = o.From, o.root, o.inside
		}
	}
	if !key.isThread {
		c.StackHi = c.SP + depth
	}
	if max(f.Stack, f.Values) >= 0 {
		var words []uint64
		if last := len(p.spare) - 1; last >= 0 {
			words, p.spare = p.spare[last][:0], p.spare[:last]
		}
		c.Stack, c.Args = p.fetched(ev, f, words)
	}
	before := s.hits
	s.hits.add(1, p.site, p.words, p.faults)
	if p.opt.Entries {
		c.Split, c.Hits = Split{}, before
		p.item.Call = s.complete(n)
		p.emit(Began)
	}
	c.Split, c.Hits = p.sums, before
	if p.plan.Mode == uprobe.Entries {
		p.pop(s)
		p.countDone(ev.Time)
		return
	}
	if target.ABI == offsets.ABI0 && !key.isThread && !p.plan.ByStack {
		p.sched.thread(ev.Time, ev.PID, ev.TID).assembly = s
	}
}

// fetched returns the words that an event has fetched at the begin of a call: those for the callers, and those for the
// arguments. It copies them to the memory of words.
func (p *Stream) fetched(ev *parse.Event, f *uprobe.Fields, words []uint64) (stack, args []uint64) {
	first := f.Stack
	if first < 0 {
		first = f.Values
	}
	words = append(words, ev.Args[first:]...)
	n := min(p.plan.StackWords(), len(words))
	return words[:n], words[n:]
}

// leave handles the return of a call.
func (p *Stream) leave(ev *parse.Event, f *uprobe.Fields, fn int) {
	key, depth := p.locate(ev, f)
	s := p.proc.stack(key)
	if key.isThread && p.plan.Funcs[fn].ABI == offsets.ABI0 {
		if real := p.sched.thread(ev.Time, ev.PID, ev.TID).assembly; real != nil && len(real.frames) > 0 {
			if top := &real.frames[len(real.frames)-1]; top.Func == fn && top.SP == ev.Args[f.SP] {
				s, depth = real, top.fromTop
			}
		}
	}
	if s == nil {
		return // the call began before the window, or its entry was lost, or maxOpen was reached
	}
	p.unwind(ev, s, depth+1)
	p.noteThread(ev, fn, s)
	if last := len(s.frames) - 1; last >= 0 && s.frames[last].fromTop == depth && s.frames[last].Func == fn {
		if p.end(ev, s, Returned, f); last == 0 && s.key.isThread {
			p.proc.drop(s.key)
		}
	}
	s.hits.add(1, p.site, p.words, p.faults)
}

// unwind ends the calls of a stack that were entered at depth or deeper, with Outcome Unwound.
func (p *Stream) unwind(ev *parse.Event, s *stack, depth uint64) {
	for n := len(s.frames); n > 0 && s.frames[n-1].fromTop >= depth; n-- {
		p.end(ev, s, Unwound, nil)
	}
}

// emitEnded emits a call that has ended, and counts it if it is Abandoned.
func (p *Stream) emitEnded(c *Call) {
	if c.Outcome == Abandoned {
		p.account.funcs[c.Func].Abandoned++
	}
	p.item.Call = c
	p.emit(Ended)
}

// end ends the innermost call of a stack. fields describes the event of a return, and is nil if the call was unwound.
func (p *Stream) end(ev *parse.Event, s *stack, how Outcome, fields *uprobe.Fields) {
	if p.limitReached() {
		return // the event ends several calls, and a call that it has ended reached the limit: this call stays open
	}
	n := len(s.frames) - 1
	c := s.complete(n)
	c.End, c.Outcome = ev.Time, p.outcome(c, how, ev.Time)
	before := c.Split
	c.Split = Split{}
	if c.Outcome == Returned {
		if p.plan.Sched && ev.Time >= c.Start {
			c.Split.add(p.sums, before)
			c.Split = c.Split.withSum(ev.Time - c.Start)
		}
		if fields.Values >= 0 {
			c.Results = ev.Args[fields.Values:]
		}
	}
	if n > 0 {
		for _, w := range c.Waits {
			s.frames[n-1].Waits.add(w.Reason, w.Ticks)
		}
	}
	p.emitEnded(c)
	p.pop(s)
	p.countDone(ev.Time)
}
