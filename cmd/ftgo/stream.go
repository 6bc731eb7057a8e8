package main

import "github.com/ftgo/ftgo/parse"

// counts are what the kernel counts: see [tracefs.Session].
type counts interface {
	Profile() ([][]uint64, error)
	Overruns() (uint64, error)
}

// newStream makes the way from the trace to the tally and the view.
func (t *tracing) newStream() (err error) {
	if t.stream, err = parse.NewStream(t.plan, func(c *parse.Call) {
		t.tally.add(c)
		t.tell(t.onCall, c)
	}); err != nil {
		return err
	}
	t.stream.Inside(t.inside)
	t.stream.Limit(t.calls)
	if t.onEnter != nil {
		t.stream.Entered(func(c *parse.Call) { t.tell(t.onEnter, c) })
	}
	if t.tally.per != nil {
		t.stream.Begun(t.tally.per.begun)
	}
	t.stream.Bias = t.bias.Of
	t.stream.Keep = t.kernel.keep(t.opt)
	return nil
}
