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
	// maxTrees is a number of lines of all trees together. When it is reached, every tree with minPart lines is written in
	// parts, and trees no longer wait for goroutines.
	maxTrees = 200_000
	minPart  = 100
	// maxSlow is the limit of lines of all trees together with --slow. Lines of calls with three strings then take about
	// 150 MB.
	maxSlow = 100_000
	// maxOpen is the limit of open calls of all trees together, which take about 100 MB. At the limit, new calls are left
	// out.
	maxOpen = 1 << 18
	// goroutineWait is the longest time for which a tree waits for its goroutines after its outermost call has ended.
	goroutineWait = time.Second
	// partEvery is the interval at which parts of an unfinished tree are written.
	partEvery = 10 * time.Second
)

// forest builds trees of calls. A tree consists of an outermost call, the calls below it, and the calls of goroutines that
// these calls started. forest writes a tree, callers first, when its outermost call and its goroutines have ended. It
// writes trees in the order in which their outermost calls end. It writes a tree in parts if the tree has many lines or
// takes long.
type forest struct {
	depth  int // the number of levels to write, 0 means all
	write  func(*render.Tree) error
	tracks map[render.Thread]*track
	// calls are the calls that may get more calls below them, by ID: calls that are open, or have started goroutines
	// that still run.
	calls   map[uint64]*node
	open    int       // the number of open calls
	lines   int       // the number of lines of all trees
	ended   []*tree   // trees whose outermost call has ended, in the order in which these calls ended
	checked time.Time // the last time that writeDue looked for unfinished trees to write in parts
	// limit is maxTree, total is maxTrees or maxSlow, and openLimit is maxOpen, except in tests.
	limit, total, openLimit int
	maxWait                 time.Duration // goroutineWait, except in tests
	// slow is the value of --slow. forest writes a tree only if it takes longer. 0 means that all trees are written. If slow
	// is not 0, no tree is written in parts: a tree has at most limit lines, and all trees together have at most total lines.
	// Further lines are dropped and counted.
	slow    time.Duration
	leftOut int // the number of calls dropped because too many others were open
	untimed int // the number of trees dropped because the removal of probes made their duration unknown
}

// trackKey returns the key of a thread in tracks: the thread without the fields that change while a goroutine runs.
func trackKey(t render.Thread) render.Thread {
	if t.CPU = 0; t.Goid != 0 {
		t.TID = 0
	}
	return t
}

// track is the stack of open calls of a goroutine, or of a thread outside of goroutines.
type track struct {
	// thread is the goroutine, and the thread on which its first call began. The thread is unknown if the go statement made
	// the track.
	thread render.Thread
	tree   *tree // the tree of the open calls, nil if no call is open
	// stack contains the open calls, the innermost last. It may also contain ended calls: at the end of tracing, a call ends
	// before the calls below it.
	stack []*node
	// from is the call that started the goroutine. After this call has ended and was written or dropped, from is its nearest
	// open caller. It is nil if neither is known, and after the goroutine has ended.
	from *node
	// origin is the call that started the goroutine, if the call and all its callers have ended and were written or dropped.
	// Otherwise it is nil.
	origin *render.Line
}

// tree is an outermost call with all calls and events below it.
type tree struct {
	render.Tree                 // show sets the fields First, Root, Lines and Took in a copy
	root        *node           // the outermost call
	nodes       []*node         // the nodes of the unwritten part that have no caller in it
	lines       int             // the number of unwritten lines
	open        int             // the number of open calls
	running     map[*track]bool // the running goroutines that calls of the tree started
	end         time.Time       // the time at which the outermost call ended, zero while it is open
	lastWrite   time.Time       // the time of the last part, or the begin of the tree
}

// node is a call or a kernel event. When a call ends, forest replaces its line.
type node struct {
	*render.Line
	tree       *tree
	track      *track
	parent     *node
	children   []*node // in the order in which they began
	level      int
	goroutines int // the number of tracks with this node as from
	id         uint64
	ended      bool
	end        time.Time // when the call ended
	listed     bool      // add has put the node into its tree: the node is not too deep, and the tree had room
	hidden     bool      // the call does not pass the filters, but calls below it may
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

// begin adds a call when the call begins. If too many calls are open, it leaves the call out.
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

// add adds a node to its tree. If the tree is then too large, add writes a part of it. With --slow, it writes no part, but
// drops the node if the tree, the forest or the node's caller has no room.
func (t *forest) add(n *node) error {
	tree := n.tree
	if t.slow > 0 && (tree.lines >= t.limit || t.lines >= t.total || n.parent != nil && !n.parent.listed) {
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
	// If the outermost call of the tree has ended, the tree is itself among the ended ones.
	if err := t.writeEnded(); err != nil || !tree.end.IsZero() {
		return err
	}
	return t.show(tree)
}

// end notes that a call has ended, and writes the trees that are due. line is nil if the call does not pass the filters.
func (t *forest) end(c *pairing.Call, line *render.Line, at time.Time) error {
	n, ok := t.calls[c.ID]
	if !ok {
		return nil
	}
	t.open--
	if n.ended, n.end, n.hidden = true, at, line == nil; line != nil {
		line.Branch = n.Branch
		n.Line = line
	}
	tree, tr := n.tree, n.track
	t.forgetEnded(n)
	tree.open--
	for n := len(tr.stack); n > 0 && tr.stack[n-1].ended; n-- {
		tr.stack = tr.stack[:n-1]
	}
	t.forgetIdle(tr)
	if tr == tree.root.track && len(tr.stack) == 0 {
		tree.end = at
		if c.Outcome == pairing.Abandoned && t.slow > 0 {
			t.untimed++ // c is the last call to end on the goroutine of the outermost call
			t.release(tree, false)
		} else if t.slow > 0 && at.Sub(tree.root.Time) <= t.slow {
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

// forgetIdle forgets a track if it has no open calls. If the call that started the goroutine is known, forgetIdle keeps the
// track, because a later call of the goroutine needs it.
func (t *forest) forgetIdle(tr *track) {
	if len(tr.stack) > 0 {
		return
	}
	if tr.tree = nil; tr.from == nil && tr.origin == nil {
		delete(t.tracks, trackKey(tr.thread))
	}
}

// goroutine handles the start or the end of a goroutine. At the start, it records that the call From started the
// goroutine. At the end, it removes this record. If no call of the goroutine is open, it then forgets the track.
func (t *forest) goroutine(g *pairing.Goroutine, at time.Time) error {
	thread := render.Thread{Goid: g.Goid, PID: g.PID}
	if g.Ended {
		if tr := t.tracks[trackKey(thread)]; tr != nil {
			t.detach(tr)
			tr.origin = nil
			t.forgetIdle(tr)
		}
		return t.writeDue(at)
	}
	if node := t.calls[g.From]; node != nil {
		tr := t.trackFor(thread)
		tr.from = node
		node.goroutines++
		node.tree.running[tr] = true
	}
	return nil
}

// detach forgets which call started a goroutine. The call's tree no longer waits for the goroutine.
func (t *forest) detach(tr *track) {
	if node := tr.from; node != nil {
		tr.from = nil
		node.goroutines--
		delete(node.tree.running, tr)
		t.forgetEnded(node)
	}
}

// processEnded handles the end of a process. It writes the process's trees that wait for goroutines. It forgets the
// process's goroutines that have no open calls.
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

// kernelEvent adds a kernel event to the innermost open call of its goroutine or thread. If this call is not in the tree,
// it adds the event to the nearest caller in the tree. If no caller is in the tree, it counts the event as left out.
//
// inCall says that the event happened in a known call. If the event did not, or the goroutine has no open call, kernelEvent
// does nothing and returns false as taken.
func (t *forest) kernelEvent(line *render.Line, inCall bool) (taken bool, err error) {
	tr := t.tracks[trackKey(line.Thread)]
	if tr == nil || len(tr.stack) == 0 || !inCall {
		return false, nil
	}
	inner := tr.stack[len(tr.stack)-1]
	for inner != nil && !inner.listed {
		inner = inner.parent
	}
	if inner == nil { // neither the call nor a caller is in the tree
		tr.stack[0].tree.LeftOut++
		return true, nil
	}
	return true, t.add(&node{Line: line, ended: true, parent: inner, tree: inner.tree, track: tr})
}

// writeDue writes ended trees in order, up to the first that still waits for open calls or goroutines. A tree waits for
// maxWait at most. No tree waits if the forest is full. Without --slow, writeDue also writes a part of each unfinished tree
// every partEvery.
func (t *forest) writeDue(now time.Time) error {
	for len(t.ended) > 0 {
		first := t.ended[0]
		if first.open+len(first.running) > 0 && now.Sub(first.end) < t.maxWait && t.lines < t.total {
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

func (t *forest) writeEnded() error {
	for _, tree := range t.ended {
		if err := t.show(tree); err != nil {
			return err
		}
	}
	t.ended = nil
	return nil
}
