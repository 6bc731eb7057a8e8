package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/parse"
)

// startOrder holds calls back until all that began before them have ended.
type startOrder struct {
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

// end takes the line of a call that has ended, and writes all whose turn has come.
func (o *startOrder) end(c *parse.Call, line *render.CallLine, wanted bool, write func(*render.CallLine) error) error {
	s, ok := o.open[keyOf(c)]
	if !ok {
		s = &started{}
		o.queue = append(o.queue, s)
	}
	delete(o.open, keyOf(c))
	s.ended = true
	if wanted && s.passed {
		return write(line)
	}
	if wanted {
		s.line = line
	}
	n := 0
	for n < len(o.queue) && (o.queue[n].ended || len(o.queue)-n > maxHeld) {
		next := o.queue[n]
		next.passed = true
		n++
		if next.line != nil {
			if err := write(next.line); err != nil {
				o.queue = o.queue[n:]
				return err
			}
		}
	}
	o.queue = o.queue[n:]
	return nil
}

// flush writes what is left.
func (o *startOrder) flush(write func(*render.CallLine) error) error {
	for _, s := range o.queue {
		if s.line == nil {
			continue
		}
		if err := write(s.line); err != nil {
			return err
		}
	}
	o.queue = nil
	return nil
}
