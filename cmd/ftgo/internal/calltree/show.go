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
	out := &render.CallTree{
		First: &render.CallLine{Thread: tree.thread, Time: tree.began}, Continued: tree.continued, Origin: tree.before, LeftOut: tree.leftOut,
		Function: tree.function, Began: tree.began, Thread: tree.thread,
	}
	if !tree.over.IsZero() {
		out.Took = tree.took()
	}
	l := lister{tree: tree, out: out, living: make(map[*treeNode][]*strand), whole: t.slow > 0}
	if !tree.over.IsZero() {
		for s := range tree.living {
			l.living[s.from] = append(l.living[s.from], s)
		}
	}
	l.list(tree.nodes, 0)
	t.release(tree, l.news)
	if !l.news && tree.leftOut == 0 {
		return nil
	}
	tree.continued = true
	return t.write(out)
}

// lister makes lines of a tree.
type lister struct {
	tree   *callTree
	out    *render.CallTree
	living map[*treeNode][]*strand // goroutines that outlive the tree, by what has started them
	news   bool                    // something besides calls that are still open
	// whole: what is written stands for itself, since it is not known whether calls that are open will be
	// in another tree that is wanted.
	whole bool
}

func (l *lister) list(nodes []*treeNode, level int) {
	for _, n := range nodes {
		below := level
		if !n.hidden {
			if l.news = l.news || n.ended; len(l.out.Lines) == 0 && n.line.Call != nil {
				l.out.First = n.line.Call
			}
			n.line.Level, n.line.Outlived = level, l.outlived(n)
			line := n.line
			if l.whole && !n.ended {
				line.Call = &render.CallLine{Function: line.Function, Thread: line.Thread, Time: line.Begun, End: "open", ArgsNote: capture.NotKnown + "it goes on"}
			}
			l.out.Lines = append(l.out.Lines, line)
			below++
		}
		l.list(n.children, below)
		slices.SortFunc(l.living[n], func(a, b *strand) int { return cmp.Compare(a.thread.Goid, b.thread.Goid) })
		for _, s := range l.living[n] {
			l.out.Lines = append(l.out.Lines, render.TreeLine{Thread: s.thread, Level: below, Branch: true, GoesOn: true})
			l.news = true
		}
	}
}

// outlived is by how much an outermost call of a goroutine has outlived the tree's.
func (l *lister) outlived(n *treeNode) time.Duration {
	if c := n.line.Call; n.line.Branch && c != nil && !l.tree.over.IsZero() && !c.Ended.IsZero() {
		return max(c.Ended.Sub(l.tree.over), 0)
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
		root: n.strand, thread: n.line.Thread, nodes: []*treeNode{n}, living: make(map[*strand]bool),
		function: n.line.Function, began: n.line.Begun, since: old.over, continued: shown, before: n.strand.before,
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
