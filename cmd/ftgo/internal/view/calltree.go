package view

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// Limits of the lines that are kept until their tree ends.
const (
	// maxTree is the number of lines after which a tree is written in parts.
	maxTree = 10_000
	// maxTrees is the number of lines of all trees after which any tree of minPart lines is written in parts,
	// and trees no longer wait for goroutines.
	maxTrees = 200_000
	minPart  = 100
	// maxSlow is the number of lines of all trees if only slow ones are written: some 150 MB, for calls with
	// three strings.
	maxSlow = 100_000
	// maxBranches is the number of open calls of all trees, some 100 MB. Calls that begin beyond it are left out.
	maxBranches = 1 << 18
	// patience is how long a tree whose outermost call has ended waits for the goroutines that it started.
	// partEvery is the time after which a part of a tree is written that goes on.
	patience  = time.Second
	partEvery = 10 * time.Second
)

// forest keeps the calls of each tree until its outermost call has ended, with those of the goroutines that
// were started in it, and writes them with callers first. Trees are written in the order in which their
// outermost calls end.
type forest struct {
	depth   int // the number of levels to write; 0 means all
	write   func(*render.Tree) error
	strands map[render.Thread]*strand
	// calls are the calls by ID that may get more calls below them: they are open, or have started
	// goroutines that still run.
	calls map[uint64]*node
	open  int // calls
	lines int // of all trees
	// ended are the trees whose outermost call has ended, in that order.
	ended []*tree
	// growing are the trees whose outermost call is open.
	growing map[*tree]bool
	checked time.Time // the last check of partEvery
	// limit is maxTree, total maxTrees, branches maxBranches, except in tests.
	limit, total, branches int
	// patience is how long a tree waits for goroutines that outlive it.
	patience time.Duration
	// slow: only trees that took longer are written, unless it is 0. Then a tree keeps at most limit lines, and all trees
	// total; lines beyond that are dropped and counted.
	slow time.Duration
	// leftOut counts calls that were not kept because too many others were open. unseen counts trees of unknown
	// duration, because their probes were removed meanwhile.
	leftOut, unseen int
}

// strandOf returns the key of a strand: the thread without the fields that change while a goroutine runs.
func strandOf(t render.Thread) render.Thread {
	if t.CPU = 0; t.Goid != 0 {
		t.TID = 0
	}
	return t
}

// strand is a goroutine, or a thread's own stack, with its open calls, the innermost last. Ended calls may be
// among them, because calls end in the order of their begins when tracing ends.
type strand struct {
	thread render.Thread // of its first call
	tree   *tree         // of its calls, nil without open calls
	stack  []*node
	// from is the call that has started the goroutine, nil if there is none, or the goroutine has ended.
	from    *node
	started time.Time
	// before is that call, if it was written before the goroutine's calls.
	before *render.Line
}

// tree is an outermost call with all calls and events below it.
type tree struct {
	render.Tree         // the fields that are known before show
	root        *node   // the outermost call
	nodes       []*node // the top nodes that are not written yet: the root, or calls whose callers are left out
	lines       int
	open        int              // calls
	living      map[*strand]bool // goroutines started in it that still run
	over        time.Time        // when the root ended
	since       time.Time        // when the tree began, or was last written
}

// node is a call or an event. The line of a call is replaced when it ends.
type node struct {
	*render.Line
	tree     *tree
	strand   *strand
	parent   *node
	children []*node // in the order in which they began
	level    int
	strands  int // started by it, and still running
	id       uint64
	ended    bool
	listed   bool // it has a place in the tree: it is not too deep, and there was room
	hidden   bool // it does not pass the filters, but calls below it may
}

// newForest returns one of so many levels, 0 for all, which are passed to write.
func newForest(depth int, write func(*render.Tree) error) *forest {
	return &forest{
		depth: depth, write: write, limit: maxTree, total: maxTrees, branches: maxBranches, patience: patience,
		strands: make(map[render.Thread]*strand), calls: make(map[uint64]*node), growing: make(map[*tree]bool),
	}
}

// strandFor returns the strand of a thread, and creates it if necessary.
func (t *forest) strandFor(thread render.Thread) *strand {
	s := t.strands[strandOf(thread)]
	if s == nil {
		s = &strand{thread: thread}
		t.strands[strandOf(thread)] = s
	}
	return s
}

// begin adds a call that begins.
func (t *forest) begin(c *pairing.Call, function string, at time.Time) error {
	if t.open >= t.branches {
		t.leftOut++
		return nil
	}
	s := t.strandFor(render.ThreadOf(c))
	n := &node{id: c.ID, strand: s, Line: &render.Line{Function: function, Thread: render.ThreadOf(c), Time: at}}
	switch depth := len(s.stack); {
	case depth > 0:
		n.parent = s.stack[depth-1]
	case s.from != nil:
		n.parent, n.Branch = s.from, true
		n.Started, s.started = s.started, time.Time{}
	}
	if n.parent != nil {
		s.tree, n.level = n.parent.tree, n.parent.level+1
	} else {
		s.tree = &tree{root: n, living: make(map[*strand]bool), since: at, Tree: render.Tree{Origin: s.before}}
		t.growing[s.tree] = true
	}
	n.tree = s.tree
	s.stack = append(s.stack, n)
	n.tree.open++
	t.open++
	t.calls[c.ID] = n
	if t.depth > 0 && n.level >= t.depth {
		return nil // too deep: only its end matters
	}
	return t.add(n)
}

// add adds a line to its tree. Slow trees are kept whole, and leave out lines when they are full.
func (t *forest) add(n *node) error {
	tree := n.tree
	if t.slow > 0 && !t.room(n) {
		tree.LeftOut++
		return nil
	}
	n.listed = true
	if n.parent == nil {
		tree.nodes = append(tree.nodes, n)
	} else {
		n.parent.children = append(n.parent.children, n)
	}
	tree.lines++
	t.lines++
	if all := tree.lines; t.slow > 0 || all < t.limit && (t.lines < t.total || all < minPart) || all < 2*tree.open {
		return nil
	}
	return t.showPart(tree)
}

// end takes a call that has ended; line is nil if the call does not pass the filters.
func (t *forest) end(c *pairing.Call, line *render.Line, at time.Time) error {
	n, ok := t.calls[c.ID]
	if !ok {
		return nil
	}
	t.open--
	if n.ended, n.hidden = true, line == nil; line != nil {
		line.Shown, line.Branch, line.Started = n.Shown, n.Branch, n.Started
		n.Line = line
	}
	tree, s := n.tree, n.strand
	t.settle(n)
	tree.open--
	for n := len(s.stack); n > 0 && s.stack[n-1].ended; n-- {
		s.stack = s.stack[:n-1]
	}
	if len(s.stack) == 0 {
		t.idle(s)
	}
	if s == tree.root.strand && len(s.stack) == 0 {
		tree.over = at
		delete(t.growing, tree)
		if t.slow > 0 && !t.wants(c, tree.took()) {
			t.release(tree, false)
		} else {
			t.ended = append(t.ended, tree)
		}
	}
	return t.pass(at)
}

// settle forgets a call that has ended and cannot get more calls below it.
func (t *forest) settle(n *node) {
	if n.ended && n.strands == 0 {
		delete(t.calls, n.id)
	}
}

// idle forgets a strand that has no open call, unless a call has started it.
func (t *forest) idle(s *strand) {
	if s.tree = nil; s.from == nil && s.before == nil {
		delete(t.strands, strandOf(s.thread))
	}
}

// goroutine takes the start of a goroutine by a call, or the end of a goroutine.
func (t *forest) goroutine(g *pairing.Goroutine, at time.Time) error {
	thread := render.Thread{Goid: g.Goid, PID: g.PID}
	if g.Ended {
		if s := t.strands[strandOf(thread)]; s != nil {
			t.leave(s)
			s.before = nil
			if len(s.stack) == 0 {
				t.idle(s)
			}
		}
		return t.pass(at)
	}
	if node := t.calls[g.From]; node != nil {
		s := t.strandFor(thread)
		s.from, s.started = node, at
		node.strands++
		node.tree.living[s] = true
	}
	return nil
}

// leave separates a goroutine from the call that has started it.
func (t *forest) leave(s *strand) {
	if node := s.from; node != nil {
		s.from = nil
		node.strands--
		delete(node.tree.living, s)
		t.settle(node)
	}
}

// processEnded writes the trees that wait for goroutines of a process, which went on until then, and ends those that have
// no open calls.
func (t *forest) processEnded(pid int) error {
	waiting := t.ended
	t.ended = nil
	for _, tree := range waiting {
		if tree.root.PID != pid {
			t.ended = append(t.ended, tree)
		} else if err := t.show(tree); err != nil {
			return err
		}
	}
	for _, s := range t.strands {
		if s.thread.PID == pid && len(s.stack) == 0 {
			t.leave(s)
			s.before = nil
			t.idle(s)
		}
	}
	return nil
}

// happened takes a kernel event that happened in an open call.
func (t *forest) happened(line *render.Line, inCall bool) (taken bool, err error) {
	s := t.strands[strandOf(line.Thread)]
	if s == nil || len(s.stack) == 0 || !inCall {
		return false, nil
	}
	inner := s.stack[len(s.stack)-1]
	for inner != nil && !inner.listed {
		inner = inner.parent
	}
	if inner == nil { // all calls around it are too deep, were written without it, or had no room
		s.stack[0].tree.LeftOut++
		return true, nil
	}
	return true, t.add(&node{Line: line, ended: true, parent: inner, tree: inner.tree, strand: s})
}

// full reports whether all trees together have reached their limit.
func (t *forest) full() bool { return t.lines >= t.total }

// pass writes trees that are complete, or have waited for long enough.
func (t *forest) pass(now time.Time) error {
	for len(t.ended) > 0 {
		first := t.ended[0]
		if first.open+len(first.living) > 0 && now.Sub(first.over) < t.patience && !t.full() {
			break
		}
		t.ended = t.ended[1:]
		if err := t.show(first); err != nil {
			return err
		}
	}
	if t.slow > 0 || now.Sub(t.checked) < partEvery/10 {
		return nil
	}
	t.checked = now
	for tree := range t.growing {
		if now.Sub(tree.since) >= partEvery {
			if err := t.show(tree); err != nil {
				return err
			}
			tree.since = now
		}
	}
	return nil
}

// passAll writes all trees that have ended.
func (t *forest) passAll() error {
	for _, tree := range t.ended {
		if err := t.show(tree); err != nil {
			return err
		}
	}
	t.ended = nil
	return nil
}

// showPart writes a part of a tree that has grown too large, after the trees that have ended before.
func (t *forest) showPart(tree *tree) error {
	if err := t.passAll(); err != nil || !tree.over.IsZero() {
		return err
	}
	return t.show(tree)
}

// took returns how long the outermost call took, once it has ended.
func (t *tree) took() time.Duration { return t.over.Sub(t.root.Time) }

// wants reports whether a tree is slow enough to be written. The duration is unknown if the outermost call was
// abandoned.
func (t *forest) wants(c *pairing.Call, took time.Duration) bool {
	if c.Outcome == pairing.Abandoned {
		t.unseen++
		return false
	}
	return took > t.slow
}

// room reports whether a line fits into its slow tree.
func (t *forest) room(n *node) bool {
	return n.tree.lines < t.limit && !t.full() && (n.parent == nil || n.parent.listed)
}
