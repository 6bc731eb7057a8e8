package pairing

import (
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// pairer makes calls of events.
//
// A call belongs to a goroutine of a process and to a depth of its stack: the
// distance between the stack's end and SP at entry, which stays the same when the
// runtime copies the stack elsewhere. Three rules close every frame:
//
//   - a return at depth d ends the call of its function that was entered at d;
//   - anything at depth d proves that all calls entered deeper are gone;
//   - an entry at depth d proves that a call entered at d is gone, too.
//
// Calls that go without a return were unwound.
type pairer struct {
	plan *uprobe.Plan
	// yield takes what is told next; false is that no more is wanted.
	yield func(*Item) bool
	item  Item // yielded again and again
	// open is the number of calls that are open, at most maxOpen.
	open, maxOpen int
	// processes are those that events have come from, by PID; proc is that of the last one.
	processes map[int]*process
	proc      *process
	account   accounting
	call      Call // of the item, likewise
	opt       Options
	spare     [][]uint64 // frames' args that can be used again
	sites     siteIndex
	bias      uint64       // of the event's process
	site      *uprobe.Site // of the event
	words     int          // of values that the event has
	faults    uint64       // of fetching them
	sched     scheduler    // nil if the plan does not follow goroutines
	at        Split        // sums of the stack that the event is on
	// retired are functions that were timed once, and are not any more, by index.
	retired map[int]retirements
	// uncounted are functions whose Counters are disarmed, or were.
	uncounted map[int]retirements
	window    window
	begun     uint64 // calls that have begun
	done      uint64 // calls that have ended
}

// newPairer returns a pairer that makes calls of a plan's events.
func newPairer(plan *uprobe.Plan) *pairer {
	p := &pairer{
		plan: plan, yield: ignore, maxOpen: maxOpen,
		processes: make(map[int]*process), proc: nowhere,
		sites: siteIndex{sites: make(map[eventAddr]int)}, retired: make(map[int]retirements), uncounted: make(map[int]retirements),
		window: window{until: ^uint64(0)},
	}
	if plan.Sched {
		p.sched = make(scheduler)
	}
	p.extend()
	p.account.funcs = make([]funcAccount, len(plan.Funcs))
	return p
}

// event takes the next event, in order of time within each goroutine. bias is the
// distance between addresses in the process and in the file.
func (p *pairer) event(ev *parse.Event, bias uint64) {
	p.account.events++
	first := ev.PID != p.proc.pid && p.meet(ev.PID)
	p.proc.latest, p.bias = ev.Time, bias
	pe := &p.plan.Events[ev.Format]
	i, ok := p.sites.find(ev.Format, ev.Addr-bias)
	if !ok {
		p.account.unknown++
		return
	}
	if !p.window.has(ev.Time) || p.full() {
		p.account.outside++
		return
	}
	p.account.delivered[ev.Format][i]++
	site := &pe.Sites[i]
	p.site, p.words, p.faults = site, pe.Words, 0
	if pe.Faults {
		p.faults = p.account.faults.hit(pe, ev.Format, i, ev.Args)
	}
	fn := site.Func
	switch site.Kind {
	case uprobe.Entry:
		p.enter(ev, &pe.Fields, site)
	case uprobe.EntryJump:
		if p.taken(pe, site, ev) {
			p.enter(ev, &pe.Fields, site)
		} else {
			p.account.noCall(site.Func)
		}
	case uprobe.Point:
		p.count(ev, site)
	case uprobe.Counter:
		p.counted(ev.Time, fn)
	case uprobe.CounterJump:
		if p.taken(pe, site, ev) {
			p.counted(ev.Time, fn)
		} else {
			p.account.funcs[fn].all.noCalls++
		}
	case uprobe.Return, uprobe.TailJump:
		p.leave(ev, &pe.Fields, fn)
	case uprobe.CondTail:
		if p.taken(pe, site, ev) {
			p.leave(ev, &pe.Fields, fn)
		} else if key, _ := p.locate(ev, &pe.Fields); p.proc.stack(key) != nil {
			p.proc.stack(key).hits.add(1, p.site, p.words, p.faults)
		}
	case uprobe.GoroutineEnd:
		if fn == uprobe.ProgramStart {
			if !first { // what is known is of what the process was before
				p.goexits(ev.Time)
				p.leaveOpen(func(of int) bool { return of == ev.PID })
			}
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
			// What the call that has recovered the panic has called is so deep at least.
			p.unwind(ev, s, ev.Args[pe.Fields.Hi]-ev.Args[pe.Fields.SP]+p.plan.Processor.Frames(0).Pushed)
		}
	case uprobe.Resume:
		if p.opt.Kernel != nil {
			s := p.proc.stackOf(keyOf(ev, &pe.Fields))
			p.proc.threads[ev.TID] = thread{on: s}
			p.is(ev, s, ev.Args[pe.Fields.Goid])
		}
	case uprobe.Yield:
		delete(p.proc.threads, ev.TID)
	case uprobe.Status, uprobe.Park, uprobe.Switch, uprobe.Waiter, uprobe.WaitOver:
		p.goroutine(ev, &pe.Fields, site.Kind)
	case uprobe.StackMove:
		p.proc.bounds.move(ev.Args[pe.Fields.G], ev.Args[pe.Fields.Lo], ev.Args[pe.Fields.Hi])
	}
}

// taken is the one rule for hits of conditional jumps: a call begins, or ends, if the jump's
// condition holds.
func (p *pairer) taken(e *uprobe.Event, site *uprobe.Site, ev *parse.Event) bool {
	return p.plan.Processor.Taken(site.Cond, ev.Args[e.Fields.Flags])
}

// counted takes a hit of a Counter.
func (p *pairer) counted(at uint64, fn int) {
	if p.uncounted[fn].has(at) {
		p.account.funcs[fn].all.noCalls++
	} else {
		p.account.funcs[fn].all.calls++
	}
}

// count takes a call that is counted, not paired.
func (p *pairer) count(ev *parse.Event, site *uprobe.Site) {
	if p.retired[site.Func].has(ev.Time) {
		p.account.noCall(site.Func)
		return
	}
	p.account.call(site.Func)
	p.began(ev.PID, site.Func, nil)
	p.finished(ev.Time)
}

func (p *pairer) enter(ev *parse.Event, f *uprobe.Fields, site *uprobe.Site) {
	if f.SP < 0 {
		p.count(ev, site)
		return
	}
	fn := site.Func
	key, depth := p.locate(ev, f)
	s := p.proc.stackOf(key)
	if f.Goid >= 0 && !key.isThread {
		p.is(ev, s, ev.Args[f.Goid])
	}
	target := &p.plan.Funcs[fn]
	if target.Sites.Restarts && len(s.frames) > 0 {
		if top := &s.frames[len(s.frames)-1]; top.fn == fn && top.depth == depth {
			p.account.noCall(site.Func)
			return
		}
	}
	if p.retired[fn].has(ev.Time) {
		p.account.noCall(site.Func)
		p.unwind(ev, s, depth)
		return
	}
	p.account.call(site.Func)
	p.unwind(ev, s, depth)
	p.ran(ev, fn, s)
	if p.open >= p.maxOpen {
		p.account.unfollowed++
		p.began(ev.PID, fn, nil)
		if len(s.frames) == 0 { // else each goroutine would leave one
			p.proc.drop(key)
		}
		return
	}
	fr := p.push(s)
	fr.fn, fr.depth, fr.sp, fr.start, fr.tid, fr.cpu = fn, depth, ev.Args[f.SP], ev.Time, ev.TID, ev.CPU
	fr.inside, fr.hi, fr.bias = false, 0, p.bias
	fr.atEntry = p.at
	fr.hitsBefore = s.hits
	fr.waits = fr.waits[:0]
	p.begun++
	fr.id, fr.from, fr.root = p.begun, 0, p.begun
	s.hits.add(1, p.site, p.words, p.faults)
	if n := len(s.frames) - 1; n > 0 && p.opt.Inside != nil {
		fr.inside = s.frames[n-1].inside || p.opt.Inside[s.frames[n-1].fn]
	} else if n == 0 && p.plan.Follows && !key.isThread {
		if o := p.proc.originOf(key.id, s.goid); o.from != 0 {
			fr.from, fr.root, fr.inside = o.from, o.root, o.inside
		}
	}
	if !key.isThread {
		fr.hi = fr.sp + depth
	}
	first := f.Stack // of the words that the call takes along
	if first < 0 {
		first = f.Values
	}
	if first >= 0 {
		if last := len(p.spare) - 1; last >= 0 {
			fr.args, p.spare = p.spare[last][:0], p.spare[:last]
		}
		fr.args = append(fr.args, ev.Args[first:]...)
	}
	var begun *Call
	if p.opt.Entries {
		begun = &p.call
		p.fill(begun, s, len(s.frames)-1)
	}
	p.began(ev.PID, fn, begun)
	if p.plan.Mode == uprobe.Entries {
		p.pop(s)
		p.finished(ev.Time)
		return
	}
	if target.ABI == offsets.ABI0 && !key.isThread && !p.plan.ByStack {
		p.proc.assembly[ev.TID] = s
	}
}

func (p *pairer) leave(ev *parse.Event, f *uprobe.Fields, fn int) {
	key, depth := p.locate(ev, f)
	s := p.proc.stack(key)
	if key.isThread && p.plan.Funcs[fn].ABI == offsets.ABI0 {
		if real := p.proc.assembly[ev.TID]; real != nil && len(real.frames) > 0 {
			if top := &real.frames[len(real.frames)-1]; top.fn == fn && top.sp == ev.Args[f.SP] {
				s, depth = real, top.depth
			}
		}
	}
	if s == nil {
		p.account.unmatched++
		return
	}
	p.unwind(ev, s, depth+1)
	p.ran(ev, fn, s)
	if last := len(s.frames) - 1; last < 0 || s.frames[last].depth != depth || s.frames[last].fn != fn {
		p.account.unmatched++
	} else if p.end(ev, s, Returned, f); last == 0 && s.key.isThread {
		p.proc.drop(s.key)
	}
	s.hits.add(1, p.site, p.words, p.faults)
}

// unwind ends all calls entered at depth or deeper, which are none as a rule.
func (p *pairer) unwind(ev *parse.Event, s *stack, depth uint64) {
	if n := len(s.frames); n > 0 && s.frames[n-1].depth >= depth {
		p.unwindAll(ev, s, depth)
	}
}

func (p *pairer) unwindAll(ev *parse.Event, s *stack, depth uint64) {
	for n := len(s.frames); n > 0 && s.frames[n-1].depth >= depth; n-- {
		p.end(ev, s, Unwound, nil)
	}
}

// ended tells of a call that has ended.
func (p *pairer) ended() {
	if p.call.Outcome == Abandoned {
		p.account.funcs[p.call.Func].abandoned++
	}
	p.item.Call = &p.call
	p.tell(Ended)
}

// end takes the innermost call off a stack. fields are those of the event if it returned.
func (p *pairer) end(ev *parse.Event, s *stack, how Outcome, fields *uprobe.Fields) {
	if p.full() {
		return // open: an event can end several
	}
	n := len(s.frames) - 1
	f := &s.frames[n]
	how = p.trusted(f, how, ev.Time)
	p.fill(&p.call, s, n)
	p.call.End, p.call.Outcome = ev.Time, how
	if how == Returned {
		if p.sched != nil && ev.Time >= f.start {
			p.call.Split.add(p.at, f.atEntry)
			p.call.Split = p.call.Split.of(ev.Time - f.start)
		}
		if fields.Values >= 0 {
			p.call.Results = ev.Args[fields.Values:]
		}
	}
	if n > 0 {
		for _, w := range f.waits {
			s.frames[n-1].waits.add(w.Reason, w.Ticks)
		}
	}
	p.ended()
	p.pop(s)
	p.finished(ev.Time)
}
