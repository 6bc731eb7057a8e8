package calltree

import (
	"cmp"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
)

// show writes what waits of a tree. Calls that are open stay, to be shown again above what follows;
// once the outermost has ended, those of goroutines that outlive it become trees of their own.
func (t *Trees) show(tree *callTree) error {
	root := &tree.root.line
	out := &render.CallTree{
		First: &render.CallLine{Thread: root.Thread, Time: root.Begun}, Continued: tree.continued, Origin: tree.before, LeftOut: tree.leftOut,
		Function: root.Function, Began: root.Begun, Thread: root.Thread,
	}
	outliving := make(map[*treeNode][]*strand) // goroutines, by what has started them
	if !tree.over.IsZero() {
		out.Took = tree.took()
		for s := range tree.living {
			outliving[s.from] = append(outliving[s.from], s)
		}
	}
	news := false // something besides calls that are still open
	var list func(nodes []*treeNode, level int)
	list = func(nodes []*treeNode, level int) {
		for _, n := range nodes {
			below := level
			if !n.hidden {
				if news = news || n.ended; len(out.Lines) == 0 && n.line.Call != nil {
					out.First = n.line.Call
				}
				n.line.Level, n.line.Outlived = level, tree.outlived(n)
				line := n.line
				if t.slow > 0 && !n.ended { // it is not known whether it will be in another tree that is wanted
					line.Call = &render.CallLine{Function: line.Function, Thread: line.Thread, Time: line.Begun, End: "open", ArgsNote: capture.NotKnown + "it goes on"}
				}
				out.Lines = append(out.Lines, line)
				below++
			}
			list(n.children, below)
			slices.SortFunc(outliving[n], func(a, b *strand) int { return cmp.Compare(a.thread.Goid, b.thread.Goid) })
			for _, s := range outliving[n] {
				out.Lines = append(out.Lines, render.TreeLine{Thread: s.thread, Level: below, Branch: true, GoesOn: true})
				news = true
			}
		}
	}
	list(tree.nodes, 0)
	t.release(tree, news)
	if !news && tree.leftOut == 0 {
		return nil
	}
	tree.continued = true
	return t.write(out)
}

// outlived is by how much an outermost call of a goroutine has outlived the tree's.
func (tree *callTree) outlived(n *treeNode) time.Duration {
	if c := n.line.Call; n.line.Branch && c != nil && !tree.over.IsZero() && !c.Ended.IsZero() {
		return max(c.Ended.Sub(tree.over), 0)
	}
	return 0
}

// release drops a tree, or what was shown of it.
func (t *Trees) release(tree *callTree, shown bool) {
	for s := range tree.living {
		t.rise(s)
	}
	t.lines -= tree.lines
	tree.nodes, tree.lines = t.keepOpen(tree.nodes, nil, shown), 0
	if tree.over.IsZero() {
		tree.count(tree.nodes)
	} else {
		for _, n := range tree.nodes {
			t.apart(n, shown)
		}
	}
	t.lines += tree.lines
}

// rise has a goroutine come from the nearest call that is open, or else from none.
func (t *Trees) rise(s *strand) {
	n := s.from
	for n != nil && n.ended {
		n = n.parent
	}
	switch {
	case n == nil:
		s.before = &render.Origin{Function: s.from.line.Function, Thread: s.from.strand.thread}
		t.leave(s)
	case n != s.from:
		s.from.strands--
		t.settle(s.from)
		s.from = n
		n.strands++
	}
}

// keepOpen returns the calls that are open, each below the nearest that is, or all that is below one
// unless that was shown.
func (t *Trees) keepOpen(nodes []*treeNode, above *treeNode, shown bool) (top []*treeNode) {
	for _, n := range nodes {
		children, next := n.children, above
		if !n.ended {
			if n.parent, next = above, n; above != nil {
				above.children = append(above.children, n)
			} else {
				top = append(top, n)
			}
			if n.line.Shown = n.line.Shown || shown && t.slow == 0; !shown {
				continue
			}
		}
		n.children, n.listed = nil, n.listed && !n.ended
		top = append(top, t.keepOpen(children, next, shown)...)
	}
	return top
}

// apart makes a tree of its own of a call, which is the outermost of a goroutine that has outlived
// its tree.
func (t *Trees) apart(n *treeNode, shown bool) {
	old := n.tree
	own := &callTree{
		root: n, nodes: []*treeNode{n}, living: make(map[*strand]bool), since: old.over, continued: shown, before: n.strand.before,
	}
	n.line.Branch = false
	own.take(n)
	for s := range old.living {
		if s.from.tree == own {
			delete(old.living, s)
			own.living[s] = true
		}
	}
	own.count(own.nodes)
	t.lines += own.lines
	t.growing[own] = true
}

// take makes a call, and all below it, part of the tree.
func (tree *callTree) take(n *treeNode) {
	if s := n.strand; s.tree == n.tree {
		s.tree = tree
		for _, open := range s.stack {
			if !open.listed && !open.ended { // too deep to be reached from n
				open.tree = tree
				tree.open++
			}
		}
	}
	if n.tree = tree; !n.ended {
		tree.open++
	}
	for _, below := range n.children {
		tree.take(below)
	}
}

// count counts the lines of nodes.
func (tree *callTree) count(nodes []*treeNode) {
	for _, n := range nodes {
		tree.lines++
		tree.count(n.children)
	}
}
