package view

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
)

// trees tells whether calls are gathered in trees.
func (o *Options) trees() bool {
	return o.Lines.Trees() || o.Format == render.Chrome
}

// writeTree writes a tree, or a part of it. -n counts trees whose outermost calls have ended; what outlives one
// is part of it. On tracks it counts calls.
func (v *Lines) writeTree(t *render.Tree) error {
	write := v.calls.Tree
	if v.chrome != nil {
		write = v.chrome.Tree
	}
	calls, trees := uint64(0), uint64(0)
	if t.Took > 0 && t.Origin == nil {
		trees = 1
	}
	for _, l := range t.Lines {
		if l.End != "" {
			calls++
			if l.Ended.IsZero() {
				l.Ended = v.Clock.Wall(v.latest) // it was open for as long as anything was seen
			}
		}
	}
	if t.LeftOut > 0 {
		v.cut.trees++
		v.cut.lines += t.LeftOut
	}
	if err := write(t); err != nil {
		return err
	}
	if v.inTrees = v.inTrees || calls > 0; v.chrome == nil {
		return v.wrote(trees)
	}
	return v.wrote(calls)
}

// passTime has trees look at the time, which passes when nothing happens, too.
func (v *Lines) passTime() error {
	if v.trees == nil || v.latest == 0 {
		return nil
	}
	if v.passed != v.latest {
		v.passed, v.idleSince = v.latest, time.Now()
	}
	return v.trees.pass(v.Clock.Wall(v.latest).Add(time.Since(v.idleSince)))
}

// warnLeftOut says what trees had no room for, and what lost events do to them.
func (v *Lines) warnLeftOut(lost uint64) {
	if v.trees == nil {
		return
	}
	if n := v.trees.leftOut; n > 0 {
		v.Env.Warn(printable.Plural(n, "call") + " left out of what is shown: too many others were open when they began")
	}
	if n := v.cut.trees; n > 0 {
		v.Env.Warn(fmt.Sprintf("%s left out of %s: there is room for %d in a tree, and for %d in all", printable.Plural(v.cut.lines, "line"), printable.Plural(n, "tree"), maxTree, v.trees.total))
	}
	if lost > 0 && v.Plan.Follows {
		v.Env.Warn("events were lost: a goroutine may be shown apart, and a call that seems unwound may have returned long before")
	}
	if n := v.trees.unseen; n > 0 {
		v.Env.Warn("of " + printable.Plural(n, "tree") + " nobody knows how long they took: the budget took their probes out meanwhile")
	}
}
