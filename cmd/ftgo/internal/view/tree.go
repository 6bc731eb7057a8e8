package view

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// Limits of what is held back until the outermost call of a tree ends.
const (
	// maxTree is the number of lines after which a tree is shown in parts.
	maxTree = 10_000
	// maxTrees is the number of lines of all trees after which any of them that has
	// minPart lines is.
	maxTrees = 200_000
	minPart  = 100
	// maxBranches is the number of open calls of all trees: some 100 MB. Those that begin
	// when as many are open are left out.
	maxBranches = 1 << 18
)

// callTrees gathers the calls of each goroutine until none of them is open any more, since
// callers come before what they call, and end after it.
type callTrees struct {
	depth int // the number of levels shown; 0 is all
	write func(first *render.CallLine, continued bool, lines []render.TreeLine) error
	trees map[render.Thread]*callTree
	open  map[callKey]*treeNode
	lines int // of all trees
	// limit is maxTree, branches maxBranches, or less in tests.
	limit, branches int
	leftOut         int // calls
}

// treeOf is the thread without what goroutines change.
func treeOf(t render.Thread) render.Thread {
	if t.CPU = 0; t.Goid != 0 {
		t.TID = 0
	}
	return t
}

// callTree is what waits of a goroutine, in the order in which it began.
type callTree struct {
	thread render.Thread // that the first call began on, for the header
	nodes  []*treeNode
	// stack are the calls that are open, the innermost last, and perhaps others that have
	// ended: when tracing does, calls end in the order in which they began.
	stack     []*treeNode
	open      int
	continued bool
}

type treeNode struct {
	line   render.TreeLine
	tree   *callTree
	parent *treeNode
	ended  bool
	listed bool // among the nodes of its tree, not too deep for that
	hidden bool // it has turned out not to be wanted, but what it calls may be
}

func newCallTrees(depth int, write func(first *render.CallLine, continued bool, lines []render.TreeLine) error) *callTrees {
	return &callTrees{
		depth: depth, write: write, limit: maxTree, branches: maxBranches,
		trees: make(map[render.Thread]*callTree), open: make(map[callKey]*treeNode),
	}
}

// begin takes a call of a function that begins.
func (t *callTrees) begin(c *pairing.Call, function string, at time.Time) error {
	if len(t.open) >= t.branches {
		t.leftOut++
		return nil
	}
	thread := threadOf(c)
	tree := t.trees[treeOf(thread)]
	if tree == nil {
		tree = &callTree{thread: thread}
		t.trees[treeOf(thread)] = tree
	}
	node := &treeNode{tree: tree, line: render.TreeLine{Function: function, Begun: at}}
	if n := len(tree.stack); n > 0 {
		node.parent = tree.stack[n-1]
	}
	tree.stack = append(tree.stack, node)
	tree.open++
	t.open[keyOf(c)] = node
	if t.depth > 0 && len(tree.stack) > t.depth {
		return nil // only its end is waited for
	}
	return t.add(tree, node)
}

func (t *callTrees) add(tree *callTree, node *treeNode) error {
	node.listed = true
	tree.nodes = append(tree.nodes, node)
	t.lines++
	if n := len(tree.nodes); n < t.limit && (t.lines < maxTrees || n < minPart) || n < 2*tree.open {
		return nil
	}
	return t.show(tree)
}

// end takes a call that has ended, its line nil if it is not wanted.
func (t *callTrees) end(c *pairing.Call, line *render.CallLine) error {
	node, ok := t.open[keyOf(c)]
	if !ok {
		return nil
	}
	delete(t.open, keyOf(c))
	node.line.Call, node.ended, node.hidden = line, true, line == nil
	tree := node.tree
	tree.open--
	for n := len(tree.stack); n > 0 && tree.stack[n-1].ended; n-- {
		tree.stack = tree.stack[:n-1]
	}
	if tree.open > 0 {
		return nil
	}
	delete(t.trees, treeOf(tree.thread))
	return t.show(tree)
}

// happened takes a kernel event, if it was in a call that waits.
func (t *callTrees) happened(ev *pairing.KernelEvent, line *render.EventLine) (taken bool, err error) {
	tree := t.trees[treeOf(line.Thread)]
	if tree == nil || len(tree.stack) == 0 || ev.Where.Func < 0 {
		return false, nil
	}
	inner := tree.stack[len(tree.stack)-1]
	for !inner.listed {
		inner = inner.parent
	}
	return true, t.add(tree, &treeNode{line: render.TreeLine{Event: line}, ended: true, parent: inner})
}

// show writes what waits of a tree. Calls that are open stay, to be shown again above what follows.
func (t *callTrees) show(tree *callTree) error {
	first := &render.CallLine{Thread: tree.thread}
	if len(tree.nodes) > 0 { // it has a call first
		first.Time = tree.nodes[0].line.Begun
	}
	var lines []render.TreeLine
	var kept []*treeNode
	news := false // something besides calls that are still open
	for _, n := range tree.nodes {
		if !n.ended {
			kept = append(kept, n)
		}
		if p := n.parent; p != nil {
			if n.line.Level = p.line.Level; !p.hidden {
				n.line.Level++
			}
		}
		if n.hidden {
			continue
		}
		if news = news || n.ended; len(lines) == 0 && n.line.Call != nil {
			first = n.line.Call
		}
		lines = append(lines, n.line)
	}
	t.lines -= len(tree.nodes) - len(kept)
	tree.nodes = kept
	if !news {
		return nil
	}
	for _, n := range kept {
		n.line.Shown = true
	}
	err := t.write(first, tree.continued, lines)
	tree.continued = true
	return err
}

// startOrder holds calls back until all that began before them have ended.
type startOrder struct {
	write func(*render.CallLine) error // nothing of nil
	queue []*started
	open  map[callKey]*started
}

// callKey tells calls apart that are open at the same time.
type callKey struct {
	pid, tid, fn, depth int
	start               uint64
}

type started struct {
	line   *render.CallLine // nil if it is not wanted
	ended  bool
	passed bool // others did not wait for it any longer
}

// maxHeld bounds the calls that wait for one that does not end.
const maxHeld = 10_000

func keyOf(c *pairing.Call) callKey { return callKey{c.PID, c.TID, c.Func, c.Depth, c.Start} }

func (o *startOrder) begin(c *pairing.Call) {
	s := &started{}
	o.open[keyOf(c)] = s
	o.queue = append(o.queue, s)
}

// end takes the line of a call that has ended, nil if it is not wanted, and writes all whose turn
// has come.
func (o *startOrder) end(c *pairing.Call, line *render.CallLine) error {
	s, ok := o.open[keyOf(c)]
	if !ok {
		s = &started{}
		o.queue = append(o.queue, s)
	}
	delete(o.open, keyOf(c))
	if s.passed {
		return o.write(line)
	}
	s.line, s.ended = line, true
	return o.pass(false)
}

// pass writes those whose turn has come, or all.
func (o *startOrder) pass(all bool) error {
	for len(o.queue) > 0 && (all || o.queue[0].ended || len(o.queue) > maxHeld) {
		s := o.queue[0]
		o.queue, s.passed = o.queue[1:], true
		if err := o.write(s.line); err != nil {
			return err
		}
	}
	return nil
}
