package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/parse"
)

// startOrder holds calls back until all that began before them have ended.
type startOrder struct {
	write func(*render.CallLine) error // nothing of nil
	queue []*started
	open  map[callKey]*started
}

// callKey tells calls apart that are open at the same time.
type callKey struct {
	pid, tid, fn, depth int
	start               uint64
}

type started struct {
	line  *render.CallLine // nil if it is not wanted
	ended bool
	// passed: others did not wait for it any longer.
	passed bool
}

// maxHeld bounds the calls that wait for one that does not end.
const maxHeld = 10_000

func keyOf(c *parse.Call) callKey { return callKey{c.PID, c.TID, c.Func, c.Depth, c.Start} }

func (o *startOrder) begin(c *parse.Call) {
	s := &started{}
	if o.open == nil {
		o.open = make(map[callKey]*started)
	}
	o.open[keyOf(c)] = s
	o.queue = append(o.queue, s)
}

// end takes the line of a call that has ended, nil if it is not wanted, and writes all whose turn
// has come.
func (o *startOrder) end(c *parse.Call, line *render.CallLine) error {
	s, ok := o.open[keyOf(c)]
	if !ok {
		s = &started{}
		o.queue = append(o.queue, s)
	}
	delete(o.open, keyOf(c))
	if s.passed {
		return o.write(line)
	}
	s.line, s.ended = line, true
	for len(o.queue) > 0 && (o.queue[0].ended || len(o.queue) > maxHeld) {
		if err := o.pass(); err != nil {
			return err
		}
	}
	return nil
}

// pass writes the first.
func (o *startOrder) pass() error {
	s := o.queue[0]
	o.queue, s.passed = o.queue[1:], true
	return o.write(s.line)
}

// flush writes what is left.
func (o *startOrder) flush() error {
	for len(o.queue) > 0 {
		if err := o.pass(); err != nil {
			return err
		}
	}
	return nil
}
