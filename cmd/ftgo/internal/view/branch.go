package view

import (
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/parse"
)

// branch adds a call that begins to the tree of its goroutine.
func (v *Lines) branch(c *parse.Call) error {
	if !v.concerns(c) {
		return nil
	}
	return v.trees.begin(c, render.CallLine{
		Function: v.Plan.Funcs[c.Func].Name, Goid: c.Goid, PID: c.PID, TID: c.TID, Time: v.Clock.Wall(c.Start),
	})
}

// writeTree writes a tree, or a part of it. -n ends with the tree that has the last call.
func (v *Lines) writeTree(head *render.TreeHead, lines []render.TreeLine) error {
	write := v.calls.Tree
	if v.chrome != nil {
		write = v.chrome.Tree
		for i := range lines {
			if c := lines[i].Call; c != nil && c.Ended.IsZero() {
				c.Ended = v.Clock.Wall(v.latest) // it was open for as long as anything was seen
			}
		}
	}
	if err := write(head, lines); err != nil {
		return err
	}
	for i := range lines {
		if lines[i].Call != nil {
			v.counted.lines++
		}
	}
	if v.opt.Calls > 0 && v.counted.lines >= v.opt.Calls {
		v.counted.enough = true
		return errors.Join(v.buffered.Flush(), run.ErrEnough)
	}
	return nil
}
