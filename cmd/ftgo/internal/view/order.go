package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// startOrder holds calls back until all that began before them have ended.
type startOrder struct {
	write func(*render.CallLine) error // nothing of nil
	queue []*started
	open  map[uint64]*started // by the call's ID
}

type started struct {
	line   *render.CallLine // nil if it is not wanted
	ended  bool
	passed bool // others did not wait for it any longer
}

// maxHeld bounds the calls that wait for one that does not end.
const maxHeld = 10_000

func (o *startOrder) begin(c *pairing.Call) {
	s := &started{}
	o.open[c.ID] = s
	o.queue = append(o.queue, s)
}

// end takes the line of a call that has ended, nil if it is not wanted, and writes all whose turn
// has come.
func (o *startOrder) end(c *pairing.Call, line *render.CallLine) error {
	s, ok := o.open[c.ID]
	if !ok {
		s = &started{}
		o.queue = append(o.queue, s)
	}
	delete(o.open, c.ID)
	if s.passed {
		return o.write(line)
	}
	s.line, s.ended = line, true
	return o.pass(false)
}

// pass writes those whose turn has come, or all.
func (o *startOrder) pass(all bool) error {
	for len(o.queue) > 0 && (all || o.queue[0].ended || len(o.queue) > maxHeld) {
		s := o.queue[0]
		o.queue, s.passed = o.queue[1:], true
		if err := o.write(s.line); err != nil {
			return err
		}
	}
	return nil
}
