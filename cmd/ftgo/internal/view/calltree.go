package view

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// Limits of the lines in memory.
const (
	// maxTree is the number of lines at which a tree is written in parts.
	maxTree = 10_000
	// maxTrees is the number of lines of all trees at which every tree with minPart lines is written in parts, and
	// trees no longer wait for goroutines.
	maxTrees = 200_000
	minPart  = 100
	// maxSlow is the number of lines of all trees if only slow trees are written. Calls with three strings then need
	// about 150 MB.
	maxSlow = 100_000
	// maxOpen is the number of open calls of all trees, about 100 MB. Calls that begin beyond it are left out.
	maxOpen = 1 << 18
	// goroutineWait is the time for which a tree waits for its goroutines after its outermost call has ended.
	goroutineWait = time.Second
	// partEvery is the interval at which parts of an unfinished tree are written.
	partEvery = 10 * time.Second
)

// forest builds trees of calls. A tree consists of an outermost call, the calls below it, and the calls of goroutines that
// were started in it. forest writes a tree, callers first, when its outermost call and its goroutines have ended. It writes
// trees in the order in which their outermost calls end, and large or long trees in parts.
type forest struct {
	depth  int // the number of levels to write, 0 means all
	write  func(*render.Tree) error
	tracks map[render.Thread]*track
	// calls are the calls that may get more calls below them, by ID: calls that are open, or have started goroutines
	// that still run.
	calls   map[uint64]*node
	open    int       // the number of open calls
	lines   int       // the number of lines of all trees
	ended   []*tree   // trees whose outermost call has ended, in the order of the ends
	checked time.Time // the last time that writeDue checked partEvery
	// limit is maxTree, total is maxTrees or maxSlow, and openLimit is maxOpen, except in tests.
	limit, total, openLimit int
	maxWait                 time.Duration // goroutineWait, except in tests
	// slow is the duration above which a tree is written, 0 for all trees. Otherwise a tree is never written in parts: it
	// has at most limit lines, and all trees together have at most total lines. Other lines are dropped and counted.
	slow    time.Duration
	leftOut int // calls dropped because too many others were open
	untimed int // trees dropped because their probes were removed while they ran, so that their duration is unknown
}

// trackKey returns a thread without the fields that change while a goroutine runs.
func trackKey(t render.Thread) render.Thread {
	if t.CPU = 0; t.Goid != 0 {
		t.TID = 0
	}
	return t
}

// track is the stack of open calls of a goroutine, or of a thread outside of goroutines.
type track struct {
	thread render.Thread // of the first call
	tree   *tree         // of the calls, nil without open calls
	// stack contains the open calls, the innermost last. It may also contain ended calls, because the end of tracing ends
	// calls in the order of their begins.
	stack   []*node
	from    *node        // the call that started the goroutine, nil if that is unknown or the goroutine has ended
	started time.Time    // the time of the go statement, zero once the first call of the goroutine has it
	origin  *render.Line // the call that started the goroutine, if it was written before the goroutine's calls
}

// tree is an outermost call with all calls and events below it.
type tree struct {
	render.Tree                 // show sets the fields First, Root, Lines and Took in a copy
	root        *node           // the outermost call
	nodes       []*node         // the top nodes of the unwritten part
	lines       int             // the number of unwritten lines
	open        int             // the number of open calls
	running     map[*track]bool // goroutines started in it that still run
	end         time.Time       // of the root, zero if it is open
	lastWrite   time.Time       // the time of the last part, or the begin of the tree
}

// node is a call or an event. When a call ends, its line is replaced.
type node struct {
	*render.Line
	tree       *tree
	track      *track
	parent     *node
	children   []*node // in the order in which they began
	level      int
	goroutines int // started by the call and still running
	id         uint64
	ended      bool
	listed     bool // the node is in the tree: it is not too deep, and the tree had room
	hidden     bool // the call does not pass the filters, but calls below it may
}

// newForest returns a forest that passes trees of at most depth levels to write. If depth is 0, it passes all levels.
func newForest(depth int, write func(*render.Tree) error) *forest {
	return &forest{
		depth: depth, write: write, limit: maxTree, total: maxTrees, openLimit: maxOpen, maxWait: goroutineWait,
		tracks: make(map[render.Thread]*track), calls: make(map[uint64]*node),
	}
}

// trackFor returns the track of a thread, and creates it if necessary.
func (t *forest) trackFor(thread render.Thread) *track {
	tr := t.tracks[trackKey(thread)]
	if tr == nil {
		tr = &track{thread: thread}
		t.tracks[trackKey(thread)] = tr
	}
	return tr
}

// begin adds a call when it begins.
func (t *forest) begin(c *pairing.Call, function string, at time.Time) error {
	if t.open >= t.openLimit {
		t.leftOut++
		return nil
	}
	tr := t.trackFor(render.ThreadOf(c))
	n := &node{id: c.ID, track: tr, Line: &render.Line{Function: function, Thread: render.ThreadOf(c), Time: at}}
	switch depth := len(tr.stack); {
	case depth > 0:
		n.parent = tr.stack[depth-1]
	case tr.from != nil:
		n.parent, n.Branch = tr.from, true
		n.Started, tr.started = tr.started, time.Time{}
	}
	if n.parent != nil {
		tr.tree, n.level = n.parent.tree, n.parent.level+1
	} else {
		tr.tree = &tree{root: n, running: make(map[*track]bool), lastWrite: at, Tree: render.Tree{Origin: tr.origin}}
	}
	n.tree = tr.tree
	tr.stack = append(tr.stack, n)
	n.tree.open++
	t.open++
	t.calls[c.ID] = n
	if t.depth > 0 && n.level >= t.depth {
		return nil // too deep for a line
	}
	return t.add(n)
}

// add adds a node to its tree. If the tree is then too large, add writes a part of it. With --slow, add drops the node
// instead if the tree is full.
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
	if n := tree.lines; t.slow > 0 || n < t.limit && (t.lines < t.total || n < minPart) || n < 2*tree.open {
		return nil
	}
	return t.showPart(tree)
}

// end ends a call. line is nil if the call does not pass the filters.
func (t *forest) end(c *pairing.Call, line *render.Line, at time.Time) error {
	n, ok := t.calls[c.ID]
	if !ok {
		return nil
	}
	t.open--
	if n.ended, n.hidden = true, line == nil; line != nil {
		line.Repeated, line.Branch, line.Started = n.Repeated, n.Branch, n.Started
		n.Line = line
	}
	tree, tr := n.tree, n.track
	t.forgetEnded(n)
	tree.open--
	for n := len(tr.stack); n > 0 && tr.stack[n-1].ended; n-- {
		tr.stack = tr.stack[:n-1]
	}
	if len(tr.stack) == 0 {
		t.forgetIdle(tr)
	}
	if tr == tree.root.track && len(tr.stack) == 0 {
		tree.end = at
		if t.slow > 0 && !t.isSlow(c, tree.took()) {
			t.release(tree, false)
		} else {
			t.ended = append(t.ended, tree)
		}
	}
	return t.writeDue(at)
}

// forgetEnded forgets a call that has ended and cannot get more calls below it.
func (t *forest) forgetEnded(n *node) {
	if n.ended && n.goroutines == 0 {
		delete(t.calls, n.id)
	}
}

// forgetIdle forgets a track without open calls, unless its origin is known.
func (t *forest) forgetIdle(tr *track) {
	if tr.tree = nil; tr.from == nil && tr.origin == nil {
		delete(t.tracks, trackKey(tr.thread))
	}
}

// goroutine starts a goroutine in a call, or ends it.
func (t *forest) goroutine(g *pairing.Goroutine, at time.Time) error {
	thread := render.Thread{Goid: g.Goid, PID: g.PID}
	if g.Ended {
		if tr := t.tracks[trackKey(thread)]; tr != nil {
			t.detach(tr)
			tr.origin = nil
			if len(tr.stack) == 0 {
				t.forgetIdle(tr)
			}
		}
		return t.writeDue(at)
	}
	if node := t.calls[g.From]; node != nil {
		tr := t.trackFor(thread)
		tr.from, tr.started = node, at
		node.goroutines++
		node.tree.running[tr] = true
	}
	return nil
}

// detach separates a goroutine from the call that started it.
func (t *forest) detach(tr *track) {
	if node := tr.from; node != nil {
		tr.from = nil
		node.goroutines--
		delete(node.tree.running, tr)
		t.forgetEnded(node)
	}
}

// processEnded writes the trees of a process that wait for goroutines, and forgets the goroutines of the process that have
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
	for _, tr := range t.tracks {
		if tr.thread.PID == pid && len(tr.stack) == 0 {
			t.detach(tr)
			tr.origin = nil
			t.forgetIdle(tr)
		}
	}
	return nil
}

// kernelEvent adds a kernel event to the innermost open call of its thread. inCall says that the event happened in a
// known call. taken is false if the event is not part of a tree.
func (t *forest) kernelEvent(line *render.Line, inCall bool) (taken bool, err error) {
	tr := t.tracks[trackKey(line.Thread)]
	if tr == nil || len(tr.stack) == 0 || !inCall {
		return false, nil
	}
	inner := tr.stack[len(tr.stack)-1]
	for inner != nil && !inner.listed {
		inner = inner.parent
	}
	if inner == nil { // no open call of the thread is in the tree
		tr.stack[0].tree.LeftOut++
		return true, nil
	}
	return true, t.add(&node{Line: line, ended: true, parent: inner, tree: inner.tree, track: tr})
}

// full reports whether all trees together have reached their limit.
func (t *forest) full() bool { return t.lines >= t.total }

// writeDue writes the ended trees that are complete or have waited for maxWait, and parts of unfinished trees every
// partEvery.
func (t *forest) writeDue(now time.Time) error {
	for len(t.ended) > 0 {
		first := t.ended[0]
		if first.open+len(first.running) > 0 && now.Sub(first.end) < t.maxWait && !t.full() {
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
	for _, tr := range t.tracks {
		if tree := tr.tree; tree != nil && tree.end.IsZero() && now.Sub(tree.lastWrite) >= partEvery {
			if err := t.show(tree); err != nil {
				return err
			}
			tree.lastWrite = now
		}
	}
	return nil
}

// writeEnded writes all ended trees.
func (t *forest) writeEnded() error {
	for _, tree := range t.ended {
		if err := t.show(tree); err != nil {
			return err
		}
	}
	t.ended = nil
	return nil
}

// showPart writes a part of a tree that is too large, after all ended trees.
func (t *forest) showPart(tree *tree) error {
	if err := t.writeEnded(); err != nil || !tree.end.IsZero() {
		return err
	}
	return t.show(tree)
}

// took returns how long the outermost call took, once it has ended.
func (t *tree) took() time.Duration { return t.end.Sub(t.root.Time) }

// isSlow reports whether a tree is slow enough to be written. c is its outermost call. If c was abandoned, the duration is
// unknown.
func (t *forest) isSlow(c *pairing.Call, took time.Duration) bool {
	if c.Outcome == pairing.Abandoned {
		t.untimed++
		return false
	}
	return took > t.slow
}

// room reports whether a slow tree has room for a node.
func (t *forest) room(n *node) bool {
	return n.tree.lines < t.limit && !t.full() && (n.parent == nil || n.parent.listed)
}
