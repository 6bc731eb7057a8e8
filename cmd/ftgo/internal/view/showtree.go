package view

import (
	"cmp"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/capture"
)

// show writes the unwritten lines of a tree. Open calls stay in the tree, and are written again before the next part. If
// the outermost call has ended, open calls of goroutines become separate trees.
func (t *forest) show(tree *tree) error {
	root, out := tree.root, tree.Tree
	out.Root, out.First = root.Line, &render.Line{Thread: root.Thread, Time: root.Time}
	outliving := make(map[*node][]*track) // goroutines by the call that started them
	if !tree.end.IsZero() {
		out.Took = tree.end.Sub(root.Time)
		for tr := range tree.running {
			outliving[tr.from] = append(outliving[tr.from], tr)
		}
	}
	newLines := false // a line that is not of an open call was listed
	var list func(nodes []*node, level int)
	list = func(nodes []*node, level int) {
		for _, n := range nodes {
			below := level
			if !n.hidden {
				if newLines = newLines || n.ended; len(out.Lines) == 0 && n.End != "" {
					out.First = n.Line
				}
				n.Level = level
				if n.Branch && !tree.end.IsZero() && n.ended && n.End != "open" {
					n.Outlived = max(n.end.Sub(tree.end), 0)
				}
				line := n.Line
				if t.slow > 0 && !n.ended { // the call's end may never be shown: its own tree may not be slow
					line = new(*line)
					line.End, line.ArgsNote = "open", capture.NotKnown+"it goes on"
				}
				out.Lines = append(out.Lines, line)
				below++
			}
			list(n.children, below)
			slices.SortFunc(outliving[n], func(a, b *track) int { return cmp.Compare(a.thread.Goid, b.thread.Goid) })
			for _, tr := range outliving[n] {
				out.Lines = append(out.Lines, &render.Line{Thread: tr.thread, Level: below, Branch: true, GoesOn: true})
				newLines = true
			}
		}
	}
	list(tree.nodes, 0)
	var err error
	if newLines || tree.LeftOut > 0 {
		tree.Continued = true
		err = t.write(&out)
	}
	t.release(tree, newLines)
	return err
}

// release drops the ended calls of a tree that was written, or that is not slow enough. shown says that the tree was
// written.
func (t *forest) release(tree *tree, shown bool) {
	for tr := range tree.running {
		t.reattach(tr)
	}
	t.lines -= tree.lines
	tree.nodes, tree.lines = t.keepOpen(tree.nodes, nil, shown), 0
	if tree.end.IsZero() {
		tree.count(tree.nodes)
	} else {
		for _, n := range tree.nodes {
			t.splitOff(n, shown)
		}
	}
	t.lines += tree.lines
}

// reattach moves a goroutine below the nearest open caller of the call that started it. Without an open caller, it
// detaches the goroutine.
func (t *forest) reattach(tr *track) {
	n := tr.from
	for n != nil && n.ended {
		n = n.parent
	}
	switch {
	case n == nil:
		tr.origin = &render.Line{Function: tr.from.Function, Thread: tr.from.track.thread}
		t.detach(tr)
	case n != tr.from:
		tr.from.goroutines--
		t.forgetEnded(tr.from)
		tr.from = n
		n.goroutines++
	}
}

// keepOpen drops ended calls. It returns the open calls without an open caller, with the other open calls below their
// nearest open callers. above is the nearest open caller of nodes, or nil. If shown is false, it keeps all nodes below
// open calls.
func (t *forest) keepOpen(nodes []*node, above *node, shown bool) (top []*node) {
	for _, n := range nodes {
		children, next := n.children, above
		if !n.ended {
			if n.parent, next = above, n; above != nil {
				above.children = append(above.children, n)
			} else {
				top = append(top, n)
			}
			if !shown {
				continue
			}
		}
		n.children, n.listed = nil, n.listed && !n.ended
		top = append(top, t.keepOpen(children, next, shown)...)
	}
	return top
}

// splitOff makes a separate tree of n, the outermost open call of a goroutine that outlived its tree.
func (t *forest) splitOff(n *node, shown bool) {
	old := n.tree
	split := &tree{
		root: n, nodes: []*node{n}, running: make(map[*track]bool), lastWrite: old.end, Tree: render.Tree{Continued: shown, Origin: n.track.origin},
	}
	n.Branch = false
	split.adopt(n)
	for tr := range old.running {
		if tr.from.tree == split {
			delete(old.running, tr)
			split.running[tr] = true
		}
	}
	split.count(split.nodes)
	t.lines += split.lines
}

// adopt moves a call and all nodes below it to the tree.
func (tree *tree) adopt(n *node) {
	if tr := n.track; tr.tree == n.tree {
		tr.tree = tree
		for _, open := range tr.stack {
			if !open.listed && !open.ended { // this call is not among the children that adopt visits
				open.tree = tree
				tree.open++
			}
		}
	}
	if n.tree = tree; !n.ended {
		tree.open++
	}
	for _, below := range n.children {
		tree.adopt(below)
	}
}

func (tree *tree) count(nodes []*node) {
	for _, n := range nodes {
		tree.lines++
		tree.count(n.children)
	}
}
