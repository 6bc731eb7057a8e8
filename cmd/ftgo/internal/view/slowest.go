package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// slowest says which trees of calls are wanted: those that took longer than over or, if that is 0, as
// many of those that took longest as keep says. A tree has room for maxTree lines, and all together
// for maxSlow, half of which may be kept: what begins when there is no more is dropped, and told in
// its place.
type slowest struct {
	over time.Duration
	keep int
	kept []keptTree // the slowest first
	// lines are of kept; left are trees that were not kept for want of room, unseen those of which it
	// is not known how long they took, since probes were taken out meanwhile.
	lines, left, unseen int
}

type keptTree struct {
	*render.CallTree
	took time.Duration
}

// took is how long the outermost call of a tree has taken that has ended.
func (tree *callTree) took() time.Duration { return tree.over.Sub(tree.began) }

// wants tells whether a tree is wanted that took so long, of a call of which the end may not have
// been seen.
func (s *slowest) wants(c *pairing.Call, took time.Duration) bool {
	switch {
	case c.Outcome == pairing.Abandoned:
		s.unseen++
		return false
	case s.keep == 0:
		return took > s.over
	}
	return len(s.kept) < s.keep || took > s.kept[len(s.kept)-1].took
}

// room tells whether there is any for a line.
func (s *slowest) room(t *callTrees, node *treeNode) bool {
	return node.tree.lines < t.limit && !t.full() && (node.parent == nil || node.parent.listed)
}

// take takes a tree, and tells whether it is to be written now.
func (s *slowest) take(t *callTrees, out *render.CallTree, tree *callTree) (now bool) {
	if s.keep == 0 {
		return true
	}
	kept := keptTree{out, tree.took()}
	i, _ := slices.BinarySearchFunc(s.kept, kept, func(a, b keptTree) int { return cmp.Or(cmp.Compare(b.took, a.took), -1) })
	s.kept = slices.Insert(s.kept, i, kept)
	s.lines += len(out.Lines)
	for last := len(s.kept) - 1; last >= s.keep || last > 0 && s.lines > t.total/2; last-- {
		if last < s.keep {
			s.left++
		}
		s.lines -= len(s.kept[last].Lines)
		s.kept = slices.Delete(s.kept, last, last+1)
	}
	return false
}
