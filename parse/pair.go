package parse

import (
	"slices"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// Pairer makes calls of events.
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
type Pairer struct {
	plan *uprobe.Plan
	emit func(*Call)
	// stacks are the stacks that have, or had, open calls.
	stacks map[stackKey]*stack
	// assembly remembers, for a thread inside an assembly function, on which stack
	// it was entered: such code may use R14 for itself.
	assembly map[stackKey]stackKey
	// bounds are the stacks that SP is looked up in where nothing else tells the
	// goroutine, by process; nil where something does.
	bounds map[int]*stackBounds
	books  Books
	call   Call // handed to emit, again and again
	// inside are the functions whose callees' calls are marked.
	inside map[int]bool
	// entered, if set, is told of calls when they begin.
	entered func(*Call)
	spare   [][]uint64 // frames' args that can be used again
}

// Books are the sums of what a Pairer has seen.
type Books struct {
	// Delivered[e][s] is the number of events of site s of event e.
	Delivered [][]uint64
	// Entries[f] is the number of calls of function f seen to begin, NoCalls[f] that
	// of hits at its entry that began none: the stack check failed, or the function
	// jumped to its start.
	Entries, NoCalls []uint64
	// Strays is the number of returns whose call had begun before tracing did, or
	// whose entry was lost.
	Strays uint64
	// Unplaced is the number of events at addresses that are none of our sites.
	Unplaced uint64
}

// stackKey names a stack: the one of g in a process, or, outside of Go, a thread's.
type stackKey struct {
	pid      int
	id       uint64 // address of g, or thread id
	isThread bool
}

// stack is a stack with its open calls, the innermost last.
type stack struct {
	goid   uint64
	frames []frame
	// unnamed: no event has told the goroutine's id yet.
	unnamed bool
	ended   bool // the goroutine has gone through goexit1
}

type frame struct {
	fn       int
	depth    uint64
	sp       uint64
	start    uint64
	tid, cpu int
	inside   bool
	nested   [2]uint64 // calls that ended within, by uprobe.Function.Stepped
	args     []uint64
}

// NewPairer returns a Pairer for events of a plan. emit gets each call when it ends;
// the Call is valid until emit returns.
func NewPairer(plan *uprobe.Plan, emit func(*Call)) *Pairer {
	p := &Pairer{
		plan: plan, emit: emit,
		stacks:   make(map[stackKey]*stack),
		assembly: make(map[stackKey]stackKey),
	}
	if plan.ByStack {
		p.bounds = make(map[int]*stackBounds)
	}
	p.books.Delivered = make([][]uint64, len(plan.Events))
	for i := range plan.Events {
		p.books.Delivered[i] = make([]uint64, len(plan.Events[i].Sites))
	}
	p.books.Entries = make([]uint64, len(plan.Funcs))
	p.books.NoCalls = make([]uint64, len(plan.Funcs))
	return p
}

// Books are the sums so far. They are the Pairer's own.
func (p *Pairer) Books() *Books { return &p.books }

// Event takes the next event, in order of time within each goroutine. bias is the
// distance between addresses in the process and in the file.
func (p *Pairer) Event(ev *Event, bias uint64) {
	pe := &p.plan.Events[ev.Format]
	site, ok := pe.Site(ev.Addr - bias)
	if !ok {
		p.books.Unplaced++
		return
	}
	p.books.Delivered[ev.Format][site]++
	fn := pe.Func(site)
	switch pe.Kind {
	case uprobe.Entry:
		p.enter(ev, &pe.Fields, fn)
	case uprobe.EntryJump:
		if ev.Args[pe.Fields.Flags]&offsets.CheckFailedFlags != 0 {
			p.books.NoCalls[fn]++
			return
		}
		p.enter(ev, &pe.Fields, fn)
	case uprobe.Point:
		p.books.Entries[fn]++
	case uprobe.Return, uprobe.TailJump:
		p.leave(ev, &pe.Fields, fn)
	case uprobe.CondTail:
		if offsets.CondTaken(pe.Cond(site), ev.Args[pe.Fields.Flags]) {
			p.leave(ev, &pe.Fields, fn)
		}
	case uprobe.GoroutineEnd:
		g := ev.Args[pe.Fields.G]
		if s := p.stacks[stackKey{pid: ev.PID, id: g}]; s != nil {
			p.unwind(ev, s, 0)
			s.ended = true
		}
		p.boundsOf(ev.PID).forget(g)
	case uprobe.Recovery:
		if s := p.stacks[stackKey{pid: ev.PID, id: ev.Args[pe.Fields.G]}]; s != nil {
			p.unwind(ev, s, ev.Args[pe.Fields.Hi]-ev.Args[pe.Fields.SP]+1)
		}
	case uprobe.StackMove:
		p.boundsOf(ev.PID).move(ev.Args[pe.Fields.G], ev.Args[pe.Fields.Lo], ev.Args[pe.Fields.Hi])
	}
}

// boundsOf are the known stacks of a process; nil where they don't matter.
func (p *Pairer) boundsOf(pid int) *stackBounds {
	if p.bounds == nil {
		return nil
	}
	b := p.bounds[pid]
	if b == nil {
		b = &stackBounds{}
		p.bounds[pid] = b
	}
	return b
}

// place tells which stack an event is on, and how deep.
func (p *Pairer) place(ev *Event, f *uprobe.Fields) (key stackKey, depth uint64) {
	sp := ev.Args[f.SP]
	// The stack of a thread, or one that a signal handler runs on, stays where it
	// is: SP itself, turned round to grow with depth, will do.
	key, depth = stackKey{pid: ev.PID, id: uint64(ev.TID), isThread: true}, ^sp
	if p.plan.BySP {
		// Each call has a stack of its own, as it were: stacks are disjoint, and never
		// move, but execution changes between them at any time.
		return stackKey{pid: ev.PID, id: sp, isThread: true}, 0
	}
	if f.G < 0 {
		if g, hi, ok := p.boundsOf(ev.PID).find(sp); ok {
			return stackKey{pid: ev.PID, id: g}, hi - sp
		}
		return key, depth
	}
	g, hi := ev.Args[f.G], ev.Args[f.Hi]
	if f.Lo < 0 {
		return stackKey{pid: ev.PID, id: g}, hi - sp
	}
	lo := ev.Args[f.Lo]
	if lo >= sp || sp > hi {
		return key, depth
	}
	if p.bounds != nil && p.boundsOf(ev.PID).learn(g, lo, hi) {
		p.adopt(key, stackKey{pid: ev.PID, id: g}, lo, hi)
	}
	return stackKey{pid: ev.PID, id: g}, hi - sp
}

// adopt gives a goroutine the calls that were taken for its thread's: they had been
// entered before anything told where the goroutine's stack is.
func (p *Pairer) adopt(thread, g stackKey, lo, hi uint64) {
	from := p.stacks[thread]
	if from == nil || p.stacks[g] != nil && len(p.stacks[g].frames) > 0 {
		return
	}
	kept := from.frames[:0]
	var moved []frame
	for _, f := range from.frames {
		if lo < f.sp && f.sp <= hi {
			f.depth = hi - f.sp
			moved = append(moved, f)
		} else {
			kept = append(kept, f)
		}
	}
	from.frames = kept
	if len(moved) > 0 {
		s := p.stacks[g]
		if s == nil {
			s = &stack{unnamed: true}
			p.stacks[g] = s
		}
		s.frames = append(s.frames, moved...)
	}
}

func (p *Pairer) enter(ev *Event, f *uprobe.Fields, fn int) {
	if f.SP < 0 { // counted, not paired
		p.books.Entries[fn]++
		return
	}
	key, depth := p.place(ev, f)
	s := p.stacks[key]
	if s == nil {
		s = &stack{unnamed: true}
		p.stacks[key] = s
	}
	if f.Goid >= 0 && !key.isThread && (s.unnamed || s.goid != ev.Args[f.Goid]) {
		if !s.unnamed {
			// The runtime has given the g of a goroutine that is gone to a new one.
			p.unwind(ev, s, 0)
		}
		s.goid, s.ended, s.unnamed = ev.Args[f.Goid], false, false
	}
	target := &p.plan.Funcs[fn]
	if target.Sites.Restarts && len(s.frames) > 0 {
		if top := &s.frames[len(s.frames)-1]; top.fn == fn && top.depth == depth {
			p.books.NoCalls[fn]++
			return
		}
	}
	p.books.Entries[fn]++
	p.unwind(ev, s, depth)
	fr := frame{fn: fn, depth: depth, sp: ev.Args[f.SP], start: ev.Time, tid: ev.TID, cpu: ev.CPU}
	if n := len(s.frames); n > 0 && p.inside != nil {
		fr.inside = s.frames[n-1].inside || p.inside[s.frames[n-1].fn]
	}
	if f.Values >= 0 {
		if last := len(p.spare) - 1; last >= 0 {
			fr.args, p.spare = p.spare[last][:0], p.spare[:last]
		}
		fr.args = append(fr.args, ev.Args[f.Values:]...)
	}
	if p.entered != nil {
		p.call = Call{Func: fn, PID: key.pid, TID: ev.TID, CPU: ev.CPU, Goid: s.goid, Depth: len(s.frames), Start: ev.Time, SP: fr.sp, Inside: fr.inside, Args: fr.args}
		p.entered(&p.call)
	}
	if p.plan.Mode == uprobe.Entries {
		p.drop(fr.args)
		return
	}
	s.frames = append(s.frames, fr)
	if target.ABI == offsets.ABI0 && !key.isThread && p.bounds == nil {
		p.assembly[stackKey{pid: ev.PID, id: uint64(ev.TID), isThread: true}] = key
	}
}

func (p *Pairer) leave(ev *Event, f *uprobe.Fields, fn int) {
	key, depth := p.place(ev, f)
	s := p.stacks[key]
	if key.isThread && p.plan.Funcs[fn].ABI == offsets.ABI0 {
		if real, ok := p.assembly[key]; ok && p.inAssembly(real, fn, ev.Args[f.SP]) {
			key, s = real, p.stacks[real]
			depth = s.frames[len(s.frames)-1].depth
		}
	}
	if s == nil {
		p.books.Strays++
		return
	}
	p.unwind(ev, s, depth+1)
	last := len(s.frames) - 1
	if last < 0 || s.frames[last].depth != depth || s.frames[last].fn != fn {
		p.books.Strays++
		return
	}
	p.end(ev, key.pid, s, Returned, f)
	if last == 0 && key.isThread {
		delete(p.stacks, key)
	}
}

// inAssembly tells whether a stack's innermost call is of fn and began at sp.
func (p *Pairer) inAssembly(key stackKey, fn int, sp uint64) bool {
	s := p.stacks[key]
	if s == nil || len(s.frames) == 0 {
		return false
	}
	top := s.frames[len(s.frames)-1]
	return top.fn == fn && top.sp == sp
}

// unwind ends all calls entered at depth or deeper.
func (p *Pairer) unwind(ev *Event, s *stack, depth uint64) {
	for n := len(s.frames); n > 0 && s.frames[n-1].depth >= depth; n-- {
		p.end(ev, ev.PID, s, Unwound, nil)
	}
}

// end takes the innermost call off a stack. fields are those of the event if it returned.
func (p *Pairer) end(ev *Event, pid int, s *stack, how Outcome, fields *uprobe.Fields) {
	n := len(s.frames) - 1
	f := s.frames[n]
	s.frames = s.frames[:n]
	if n > 0 {
		outer := &s.frames[n-1]
		outer.nested[0] += f.nested[0]
		outer.nested[1] += f.nested[1]
		switch {
		case how != Returned: // the dear part, its return, was not hit
		case p.plan.Funcs[f.fn].Stepped:
			outer.nested[1]++
		default:
			outer.nested[0]++
		}
	}
	p.call = Call{Func: f.fn, PID: pid, TID: f.tid, CPU: f.cpu, Goid: s.goid, Depth: n, Start: f.start, End: ev.Time, Outcome: how, SP: f.sp, Nested: f.nested[0], NestedStepped: f.nested[1], Inside: f.inside, Args: f.args}
	if fields != nil && fields.Values >= 0 {
		p.call.Results = ev.Args[fields.Values:]
	}
	p.emit(&p.call)
	p.drop(f.args)
}

// drop keeps the memory of a call's arguments for another's.
func (p *Pairer) drop(args []uint64) {
	if args != nil {
		p.spare = append(p.spare, args)
	}
}

// Finish ends the calls that are left: open, or unwound where the goroutine is known
// to be gone. They come in the order in which they began.
func (p *Pairer) Finish() {
	var left []Call
	for key, s := range p.stacks {
		how := Open
		if s.ended {
			how = Unwound
		}
		for n, f := range s.frames {
			left = append(left, Call{Func: f.fn, PID: key.pid, TID: f.tid, CPU: f.cpu, Goid: s.goid, Depth: n, Start: f.start, Outcome: how, SP: f.sp, Inside: f.inside, Args: f.args})
		}
	}
	clear(p.stacks)
	clear(p.assembly)
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
