package pairing

import (
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Goroutine is one that a call has started, itself or by way of goroutines that made no call.
type Goroutine struct {
	PID  int
	Goid uint64
	// From is the ID of the call, the innermost that was open where the go statement was executed.
	From uint64
	// At is when it was started or, if it has Ended, when it ended.
	At    uint64
	Ended bool
}

// origin is where the goroutine of a g comes from.
type origin struct {
	goid       uint64
	from, root uint64 // Parent and Root of its outermost calls
	inside     bool   // see Call.Inside
}

// created takes the creation of a goroutine. The calls of its g that were open are those of one that
// is gone, which no event has told.
func (p *Stream) created(ev *parse.Event, f *uprobe.Fields) {
	g, by, byGoid := ev.Args[f.G], ev.Args[f.By], ev.Args[f.ByGoid]
	p.goexit(ev.Time, g)
	if f.Lo >= 0 { // nothing else may tell whose stack that is before its first calls
		p.proc.bounds.learn(g, ev.Args[f.Lo], ev.Args[f.Hi])
		p.is(ev, p.proc.stackOf(stackKey{id: g}), ev.Args[f.Goid])
	}
	if by == 0 || p.plan.InRuntime(ev.Args[f.Start]-p.bias) {
		return
	}
	o := p.proc.originOf(by, byGoid)
	if s := p.proc.stacks[stackKey{id: by}]; s != nil && len(s.frames) > 0 && s.goid == byGoid {
		s.hits.add(1, p.site, 0, 0)
		top := &s.frames[len(s.frames)-1]
		o.from, o.root, o.inside = top.ID, s.frames[0].Root, top.Inside || p.opt.Inside[top.Func]
	}
	if o.from == 0 {
		return
	}
	o.goid = ev.Args[f.Goid]
	p.proc.origins[g] = o
	p.item.Goroutine = &Goroutine{PID: p.proc.pid, Goid: o.goid, From: o.from, At: ev.Time}
	p.tell(Go)
}

// goexits takes the end of all goroutines of the process.
func (p *Stream) goexits(at uint64) {
	for _, g := range slices.Sorted(maps.Keys(p.proc.origins)) {
		p.goexit(at, g)
	}
}

// goexit takes the end of the goroutine of a g.
func (p *Stream) goexit(at, g uint64) {
	if o, ok := p.proc.origins[g]; ok {
		delete(p.proc.origins, g)
		p.item.Goroutine = &Goroutine{PID: p.proc.pid, Goid: o.goid, From: o.from, At: at, Ended: true}
		p.tell(Go)
	}
}

// originOf is that of a goroutine, zero if no call has started it.
func (p *process) originOf(g, goid uint64) origin {
	if o := p.origins[g]; o.goid == goid {
		return o
	}
	return origin{}
}
