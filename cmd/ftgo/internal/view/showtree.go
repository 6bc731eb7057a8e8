package view

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
)

// show writes the lines of a tree. Calls that are open stay, and are written again above the next part;
// once the outermost has ended, calls of goroutines that outlive it become trees of their own.
func (t *forest) show(tree *tree) error {
	root, out := tree.root, tree.Tree
	out.Root, out.First = root.Line, &render.Line{Thread: root.Thread, Time: root.Time}
	outliving := make(map[*node][]*strand) // goroutines by the call that has started them
	if !tree.over.IsZero() {
		out.Took = tree.took()
		for s := range tree.living {
			outliving[s.from] = append(outliving[s.from], s)
		}
	}
	news := false // there are other lines than those of open calls
	var list func(nodes []*node, level int)
	list = func(nodes []*node, level int) {
		for _, n := range nodes {
			below := level
			if !n.hidden {
				if news = news || n.ended; len(out.Lines) == 0 && n.End != "" {
					out.First = n.Line
				}
				n.Level = level
				if n.Branch && !tree.over.IsZero() && !n.Ended.IsZero() {
					n.Outlived = max(n.Ended.Sub(tree.over), 0)
				}
				line := n.Line
				if t.slow > 0 && !n.ended { // its own tree may not be slow
					line = new(*line)
					line.End, line.ArgsNote = "open", capture.NotKnown+"it goes on"
				}
				out.Lines = append(out.Lines, line)
				below++
			}
			list(n.children, below)
			slices.SortFunc(outliving[n], func(a, b *strand) int { return cmp.Compare(a.thread.Goid, b.thread.Goid) })
			for _, s := range outliving[n] {
				out.Lines = append(out.Lines, &render.Line{Thread: s.thread, Level: below, Branch: true, GoesOn: true})
				news = true
			}
		}
	}
	list(tree.nodes, 0)
	var err error
	if news || tree.LeftOut > 0 {
		tree.Continued = true
		err = t.write(&out)
	}
	t.release(tree, news)
	return err
}

// release drops the lines that were written, or those of a tree that is not to be written.
func (t *forest) release(tree *tree, shown bool) {
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

// rise moves a goroutine below the nearest caller that is open, or makes it independent.
func (t *forest) rise(s *strand) {
	n := s.from
	for n != nil && n.ended {
		n = n.parent
	}
	switch {
	case n == nil:
		s.before = &render.Line{Function: s.from.Function, Thread: s.from.strand.thread}
		t.leave(s)
	case n != s.from:
		s.from.strands--
		t.settle(s.from)
		s.from = n
		n.strands++
	}
}

// keepOpen returns the open calls, each below its nearest open caller. If the tree was not written, all nodes
// below an open call stay.
func (t *forest) keepOpen(nodes []*node, above *node, shown bool) (top []*node) {
	for _, n := range nodes {
		children, next := n.children, above
		if !n.ended {
			if n.parent, next = above, n; above != nil {
				above.children = append(above.children, n)
			} else {
				top = append(top, n)
			}
			if n.Shown = n.Shown || shown && t.slow == 0; !shown {
				continue
			}
		}
		n.children, n.listed = nil, n.listed && !n.ended
		top = append(top, t.keepOpen(children, next, shown)...)
	}
	return top
}

// apart makes a tree of the outermost call of a goroutine that has outlived its tree.
func (t *forest) apart(n *node, shown bool) {
	old := n.tree
	own := &tree{
		root: n, nodes: []*node{n}, living: make(map[*strand]bool), since: old.over, Tree: render.Tree{Continued: shown, Origin: n.strand.before},
	}
	n.Branch = false
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

// take moves a call, and all nodes below it, to the tree.
func (tree *tree) take(n *node) {
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

// count adds the lines of nodes to the tree's.
func (tree *tree) count(nodes []*node) {
	for _, n := range nodes {
		tree.lines++
		tree.count(n.children)
	}
}
