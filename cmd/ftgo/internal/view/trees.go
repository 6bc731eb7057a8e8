package view

import (
	"fmt"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
)

// writeTree writes a tree, or a part of a tree. -n counts trees whose outermost call has ended, without the trees of
// goroutines that outlived their tree.
func (v *Lines) writeTree(t *render.Tree) error {
	trees := uint64(0)
	if t.Took > 0 && t.Origin == nil {
		trees = 1
	}
	for _, l := range t.Lines {
		v.inTrees = v.inTrees || l.End != ""
	}
	if t.LeftOut > 0 {
		v.incomplete.trees++
		v.incomplete.lines += t.LeftOut
	}
	if err := v.calls.Tree(t); err != nil {
		return err
	}
	return v.addWritten(trees)
}

// advanceTrees writes the trees that are due. Without new events, trace time goes on with the time of day.
func (v *Lines) advanceTrees() error {
	if v.trees == nil || v.latest == 0 {
		return nil
	}
	if v.idleLatest != v.latest {
		v.idleLatest, v.idleSince = v.latest, time.Now()
	}
	return v.trees.writeDue(v.Clock.Wall(v.latest).Add(time.Since(v.idleSince)))
}

// warnLeftOut warns of calls that are missing in trees, and of the effects of lost events.
func (v *Lines) warnLeftOut(lost uint64) {
	if v.trees == nil {
		return
	}
	if n := v.trees.leftOut; n > 0 {
		v.Env.Warn(printable.Plural(n, "call") + " left out of the trees: too many others were open when they began")
	}
	if n := v.incomplete.trees; n > 0 {
		v.Env.Warn(fmt.Sprintf("%s left out of %s: the limits are %d in a tree and %d in total", printable.Plural(v.incomplete.lines, "line"), printable.Plural(n, "tree"), maxTree, v.trees.total))
	}
	if lost > 0 && v.Plan.Follow {
		v.Env.Warn("events were lost: a goroutine may be shown apart, and a call that seems unwound may have returned long before")
	}
	if n := v.trees.untimed; n > 0 {
		v.Env.Warn(printable.Plural(n, "tree") + " without a duration: --budget removed the probes meanwhile")
	}
}
