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
	// From is the call, the innermost that was open where the go statement was executed.
	From *Origin
	// At is when it was started or, if it has Ended, when it ended.
	At    uint64
	Ended bool
}

// Origin is what is left of a call for the goroutines that it has started.
type Origin struct {
	ID   uint64 // these are as in [Call]
	Func int
	// SP and what follows are of the call's stack; Stack is a copy.
	SP, StackHi, Bias uint64
	Stack             []uint64
	// Origin is that of the call's own goroutine: no more than maxOrigins in a row.
	Origin *Origin
	inside bool // see Call.Inside
	behind int  // how many there are in a row
}

// maxOrigins bounds what is kept of goroutines that each start the next, for ever.
const maxOrigins = 16

// born is a goroutine that a call has started.
type born struct {
	goid uint64
	from *Origin
}

// created takes the creation of a goroutine. The calls of its g that were open are those of one that
// is gone, which no event has told.
func (p *pairer) created(ev *parse.Event, f *uprobe.Fields) {
	g, by, byGoid := ev.Args[f.G], ev.Args[f.By], ev.Args[f.ByGoid]
	p.goexit(ev.Time, g)
	if f.Lo >= 0 { // nothing else may tell whose stack that is before its first calls
		p.proc.bounds.learn(g, ev.Args[f.Lo], ev.Args[f.Hi])
		p.is(ev, p.proc.stackOf(stackKey{id: g}), ev.Args[f.Goid])
	}
	if by == 0 || p.plan.InRuntime(ev.Args[f.Start]-p.bias) {
		return
	}
	from := p.proc.originOf(by, byGoid)
	if s := p.proc.stacks[stackKey{id: by}]; s != nil && len(s.frames) > 0 && s.goid == byGoid {
		s.hits.add(1, p.stepped, 0)
		from = p.originIn(s)
	}
	if from == nil {
		return
	}
	b := born{ev.Args[f.Goid], from}
	p.proc.born[g] = b
	p.sink.Goroutine(&Goroutine{PID: p.proc.pid, Goid: b.goid, From: from, At: ev.Time})
}

// originIn is the innermost call of a stack, for all goroutines that it starts.
func (p *pairer) originIn(s *stack) *Origin {
	f := &s.frames[len(s.frames)-1]
	if f.started == nil {
		f.started = &Origin{
			ID: f.id, Func: f.fn, SP: f.sp, StackHi: f.hi, Bias: f.bias, Stack: slices.Clone(f.args[:min(p.plan.StackWords(), len(f.args))]),
			inside: f.inside || p.opt.Inside[f.fn],
		}
		if o := s.origin; o != nil && o.behind+1 < maxOrigins {
			f.started.Origin, f.started.behind = o, o.behind+1
		}
	}
	return f.started
}

// goexits takes the end of all goroutines of the process.
func (p *pairer) goexits(at uint64) {
	for _, g := range slices.Sorted(maps.Keys(p.proc.born)) {
		p.goexit(at, g)
	}
}

// goexit takes the end of the goroutine of a g.
func (p *pairer) goexit(at, g uint64) {
	if b, ok := p.proc.born[g]; ok {
		delete(p.proc.born, g)
		p.sink.Goroutine(&Goroutine{PID: p.proc.pid, Goid: b.goid, From: b.from, At: at, Ended: true})
	}
}

// originOf is what has started a goroutine, nil if no call has.
func (p *process) originOf(g, goid uint64) *Origin {
	if b := p.born[g]; b.goid == goid {
		return b.from
	}
	return nil
}
