package calltree

import (
	"cmp"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// slowest says which trees are wanted: those that took longer than over or, if that is 0, as
// many of those that took longest as keep says. A tree has room for MaxTree lines, and all together
// for maxSlow, half of which may be kept: what begins when there is no more is dropped, and told in
// its place.
type slowest struct {
	over  time.Duration
	keep  int
	kept  []keptTree // the slowest first
	lines int        // of kept
}

type keptTree struct {
	*render.CallTree
	took time.Duration
}

// Slowest has only those trees written that took longer, or, if over is 0, keeps so many that took longest.
func (t *Trees) Slowest(over time.Duration, keep int) {
	t.slow, t.total = &slowest{over: over, keep: keep}, maxSlow
}

// Kept are the trees that took longest, the slowest first.
func (t *Trees) Kept() (trees []*render.CallTree) {
	if t.slow != nil {
		for _, kept := range t.slow.kept {
			trees = append(trees, kept.CallTree)
		}
	}
	return trees
}

// Room is how many lines there is room for.
func (t *Trees) Room() int { return t.total }

// took is how long the outermost call of a tree has taken that has ended.
func (tree *callTree) took() time.Duration { return tree.over.Sub(tree.began) }

// wants tells whether a tree is wanted that took so long, of a call of which the end may not have
// been seen.
func (t *Trees) wants(c *pairing.Call, took time.Duration) bool {
	s := t.slow
	switch {
	case c.Outcome == pairing.Abandoned:
		t.Left.Unseen++
		return false
	case s.keep == 0:
		return took > s.over
	}
	return len(s.kept) < s.keep || took > s.kept[len(s.kept)-1].took
}

// room tells whether there is any for a line of the slow trees.
func (t *Trees) room(node *treeNode) bool {
	return node.tree.lines < t.limit && !t.full() && (node.parent == nil || node.parent.listed)
}

// take takes a slow tree, and tells whether it is to be written now.
func (t *Trees) take(out *render.CallTree, tree *callTree) (now bool) {
	s := t.slow
	if s.keep == 0 {
		return true
	}
	kept := keptTree{out, tree.took()}
	i, _ := slices.BinarySearchFunc(s.kept, kept, func(a, b keptTree) int { return cmp.Or(cmp.Compare(b.took, a.took), -1) })
	s.kept = slices.Insert(s.kept, i, kept)
	s.lines += len(out.Lines)
	for last := len(s.kept) - 1; last >= s.keep || last > 0 && s.lines > t.total/2; last-- {
		if last < s.keep {
			t.Left.Unkept++
		}
		s.lines -= len(s.kept[last].Lines)
		s.kept = slices.Delete(s.kept, last, last+1)
	}
	return false
}
