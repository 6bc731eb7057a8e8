// Package calltree gathers calls in trees, with the goroutines that they start: all, or the slow ones.
package calltree

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// Limits of what is held back until a tree is over.
const (
	// MaxTree is the number of lines after which a tree is shown in parts.
	MaxTree = 10_000
	// maxTrees is the number of lines of all trees after which any of them that has
	// minPart lines is, and those are shown that wait for goroutines.
	maxTrees = 200_000
	minPart  = 100
	// maxSlow is the number of lines of all trees of which the slow ones are wanted: some 150 MB, of
	// calls with three strings.
	maxSlow = 100_000
	// maxBranches is the number of open calls of all trees: some 100 MB. Those that begin
	// when as many are open are left out.
	maxBranches = 1 << 18
	// patience is how long a tree whose outermost call has ended waits for the goroutines that were
	// started in it, and partEvery after how long one that goes on is shown as far as it is.
	patience  = time.Second
	partEvery = 10 * time.Second
)

// Trees gathers calls until the outermost one of each tree has ended, with all that goroutines
// do that were started in it: callers come before what they call, and end after it. Trees are
// shown in the order in which their outermost calls end.
type Trees struct {
	depth   int // the number of levels shown; 0 is all
	write   func(*render.Tree) error
	strands map[render.Thread]*strand
	// calls are those that may have more below them, by ID: they are open, or have started
	// goroutines that live.
	calls map[uint64]*node
	open  int // calls
	lines int // of all trees
	// ended are trees whose outermost call has ended, in that order.
	ended []*tree
	// growing are those that are neither ended nor shown.
	growing map[*tree]bool
	checked time.Time // when partEvery was last looked after
	// limit is MaxTree, total maxTrees, branches maxBranches, or something else in tests.
	limit, total, branches int
	// Patience is how long a tree waits for goroutines that outlive it.
	Patience time.Duration
	slow     time.Duration // only trees are wanted that took longer, unless it is 0
	// LeftOut counts calls that are not shown, since too many others were open when they began, and Unseen trees
	// of which it is not known how long they took, since probes were taken out meanwhile.
	LeftOut, Unseen int
}

// strandOf is the thread without what goroutines change.
func strandOf(t render.Thread) render.Thread {
	if t.CPU = 0; t.Goid != 0 {
		t.TID = 0
	}
	return t
}

// strand is a goroutine, or a thread's own stack, with its open calls, the innermost last, and
// perhaps others that have ended: when tracing does, calls end in the order in which they began.
type strand struct {
	thread render.Thread // that the first call began on
	tree   *tree         // that its calls are of, nil for none yet
	stack  []*node
	// A call has started it, unless from is nil, and it has not ended.
	from    *node
	started time.Time
	// before is what it comes from, if that was shown without its calls.
	before *render.Origin
}

// tree is what belongs to an outermost call.
type tree struct {
	render.Tree         // as far as it is known until it is shown
	root        *node   // the outermost call
	nodes       []*node // those that wait: the root, but for what other calls of its goroutine are left out
	lines       int
	open        int              // calls
	living      map[*strand]bool // goroutines that were started in it, and have not ended
	over        time.Time        // when the root ended, and the tree with it
	since       time.Time        // when the tree was last shown, or began
}

// node is a call, first as it began, and then as it ended, or an event.
type node struct {
	*render.Line
	tree     *tree
	strand   *strand
	parent   *node
	children []*node // in the order in which they began
	level    int
	strands  int // that it has started, and that live
	id       uint64
	ended    bool
	listed   bool // among what is shown, not too deep for that
	hidden   bool // it has turned out not to be wanted, but what it calls may be
}

// New gathers trees of so many levels, 0 for all, and has them written.
func New(depth int, write func(*render.Tree) error) *Trees {
	return &Trees{
		depth: depth, write: write, limit: MaxTree, total: maxTrees, branches: maxBranches, Patience: patience,
		strands: make(map[render.Thread]*strand), calls: make(map[uint64]*node), growing: make(map[*tree]bool),
	}
}

// strandFor is the strand of a thread, made if none is known.
func (t *Trees) strandFor(thread render.Thread) *strand {
	s := t.strands[strandOf(thread)]
	if s == nil {
		s = &strand{thread: thread}
		t.strands[strandOf(thread)] = s
	}
	return s
}

// Begin takes a call of a function that begins.
func (t *Trees) Begin(c *pairing.Call, function string, at time.Time) error {
	if t.open >= t.branches {
		t.LeftOut++
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
		return nil // only its end is waited for
	}
	return t.add(n)
}

// add adds a line to its tree. It has no room in a tree that is wanted as a whole and is full.
func (t *Trees) add(n *node) error {
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

// End takes a call that has ended, its line nil if it is not wanted.
func (t *Trees) End(c *pairing.Call, line *render.Line, at time.Time) error {
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
	return t.Pass(at)
}

// settle forgets a call that has ended and that nothing can be below of any more.
func (t *Trees) settle(n *node) {
	if n.ended && n.strands == 0 {
		delete(t.calls, n.id)
	}
}

// idle forgets a strand that has no open call, unless a call has started it.
func (t *Trees) idle(s *strand) {
	if s.tree = nil; s.from == nil && s.before == nil {
		delete(t.strands, strandOf(s.thread))
	}
}

// Goroutine takes a goroutine that a call has started, or the end of one.
func (t *Trees) Goroutine(g *pairing.Goroutine, at time.Time) error {
	thread := render.Thread{Goid: g.Goid, PID: g.PID}
	if g.Ended {
		if s := t.strands[strandOf(thread)]; s != nil {
			t.leave(s)
			s.before = nil
			if len(s.stack) == 0 {
				t.idle(s)
			}
		}
		return t.Pass(at)
	}
	if node := t.calls[g.From]; node != nil {
		s := t.strandFor(thread)
		s.from, s.started = node, at
		node.strands++
		node.tree.living[s] = true
	}
	return nil
}

// leave ends what binds a goroutine to the call that has started it.
func (t *Trees) leave(s *strand) {
	if node := s.from; node != nil {
		s.from = nil
		node.strands--
		delete(node.tree.living, s)
		t.settle(node)
	}
}

// ProcessEnded takes the goroutines of a process for ended.
func (t *Trees) ProcessEnded(pid int) {
	for _, s := range t.strands {
		if s.thread.PID == pid && len(s.stack) == 0 {
			t.leave(s)
			s.before = nil
			t.idle(s)
		}
	}
}

// Happened takes a kernel event, if it was in a call that waits.
func (t *Trees) Happened(ev *pairing.KernelEvent, line *render.Line) (taken bool, err error) {
	s := t.strands[strandOf(line.Thread)]
	if s == nil || len(s.stack) == 0 || ev.Where.Func < 0 {
		return false, nil
	}
	inner := s.stack[len(s.stack)-1]
	for inner != nil && !inner.listed {
		inner = inner.parent
	}
	if inner == nil { // all that it is in is too deep, was shown without it, or has no room
		s.stack[0].tree.LeftOut++
		return true, nil
	}
	return true, t.add(&node{Line: line, ended: true, parent: inner, tree: inner.tree, strand: s})
}

// full tells whether there is no room for another line.
func (t *Trees) full() bool { return t.lines >= t.total }

// Pass shows the trees whose turn has come: all that belongs to them has ended, or they have waited
// for long enough.
func (t *Trees) Pass(now time.Time) error {
	for len(t.ended) > 0 {
		first := t.ended[0]
		if first.open+len(first.living) > 0 && now.Sub(first.over) < t.Patience && !t.full() {
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

// PassAll shows all trees that have ended.
func (t *Trees) PassAll() error {
	for _, tree := range t.ended {
		if err := t.show(tree); err != nil {
			return err
		}
	}
	t.ended = nil
	return nil
}

// showPart shows what waits of a tree that has grown too large, and what has ended before that.
func (t *Trees) showPart(tree *tree) error {
	if err := t.PassAll(); err != nil || !tree.over.IsZero() {
		return err
	}
	return t.show(tree)
}
