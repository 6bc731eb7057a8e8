package pairing

import (
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// Goroutine is a goroutine that a traced call has started, itself or through goroutines without traced calls.
type Goroutine struct {
	PID  int
	Goid uint64
	// From is the ID of the innermost traced call that was open at the go statement. Without an open call, it is the
	// From of the goroutine that executed the go statement.
	From uint64
	// At is the time of its start or, if it has Ended, of its end.
	At    uint64
	Ended bool

	// The Parent of the goroutine's outermost calls is From. root and inside are their Root and Inside.
	root   uint64
	inside bool
}

// created handles a Creation event. If the g of the new goroutine belonged to another goroutine before, that goroutine
// has ended, even if its end was not seen. A goroutine of Go's runtime has no From.
func (p *Stream) created(ev *parse.Event, f *uprobe.Fields) {
	g, by, byGoid := ev.Args[f.G], ev.Args[f.Creator], ev.Args[f.CreatorGoid]
	p.goexit(ev.Time, g)
	if f.Lo >= 0 { // the first calls of the goroutine may be identified only by their SP
		p.proc.bounds.learn(g, ev.Args[f.Lo], ev.Args[f.Hi])
		p.setGoroutine(ev, p.proc.stackOf(stackKey{id: g}), ev.Args[f.Goid])
	}
	if by == 0 || p.plan.InRuntime(ev.Args[f.Start]-p.loadBias) {
		return
	}
	o := p.proc.originOf(by, byGoid)
	if s := p.proc.stacks[stackKey{id: by}]; s != nil && len(s.frames) > 0 && s.goid == byGoid {
		s.hits.add(1, p.site, 0, 0)
		top := &s.frames[len(s.frames)-1]
		o.From, o.root, o.inside = top.ID, s.frames[0].Root, top.Inside || p.plan.Funcs[top.Func].Role.Inside
	}
	if o.From == 0 {
		return
	}
	o.PID, o.Goid, o.At = p.proc.pid, ev.Args[f.Goid], ev.Time
	p.proc.started[g] = o
	p.item.Goroutine = &o
	p.emit(Go)
}

// goexit ends the goroutine of a g, if a traced call has started it.
func (p *Stream) goexit(at, g uint64) {
	if o, ok := p.proc.started[g]; ok {
		delete(p.proc.started, g)
		o.At, o.Ended = at, true
		p.item.Goroutine = &o
		p.emit(Go)
	}
}

// originOf returns what started a goroutine, the zero Goroutine if no traced call did.
func (p *process) originOf(g, goid uint64) Goroutine {
	if o := p.started[g]; o.Goid == goid {
		return o
	}
	return Goroutine{}
}
