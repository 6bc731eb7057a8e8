package main

import (
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/parse/ftrace"
)

// counts are what the kernel counts: see [tracefs.Session].
type counts interface {
	Profile() ([][]uint64, error)
	Overruns() (uint64, error)
}

// newStream makes the way from the trace to the tally and the view. find is that of the source.
func (t *tracing) newStream(src ftrace.Source, find func(tid, printed int) int) (err error) {
	opt := parse.Options{Entries: t.onEnter != nil, Inside: t.inside, Limit: t.calls}
	if t.kernel != nil {
		opt.Kernel = t.kernel.session
	}
	t.stream, err = parse.NewStream(t.plan, src, &processes{find: find, opt: t.opt, bias: t.bias, kernel: t.kernel, say: t.env.Say}, sink{t}, opt)
	return err
}

// sink is a tracing as it takes what its stream has.
type sink struct{ *tracing }

func (t sink) Counted(pid, fn int) {
	if t.tally.per != nil {
		t.tally.per.begun(pid, fn)
	}
}

func (t sink) Entry(c *parse.Call) { t.tell(t.onEnter, c) }

func (t sink) Return(c *parse.Call) {
	t.tally.add(c)
	t.tell(t.onCall, c)
}

func (t sink) Kernel(ev *parse.KernelEvent) {
	if !t.kernel.take(ev, t.stream.Within(ev.Time)) {
		return
	}
	t.tally.addKernel(ev)
	if t.onKernel != nil && t.callErr == nil {
		t.callErr = t.onKernel(ev)
	}
}
