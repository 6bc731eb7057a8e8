package calltree

import (
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
)

// OnlySlow has only those trees written that took longer. A tree has room for MaxTree lines then, and
// all together for maxSlow: what begins when there is no more is dropped, and told in its place.
func (t *Trees) OnlySlow(over time.Duration) { t.slow, t.total = over, maxSlow }

// Room is how many lines there is room for.
func (t *Trees) Room() int { return t.total }

// took is how long the outermost call of a tree has taken that has ended.
func (t *tree) took() time.Duration { return t.over.Sub(t.root.Time) }

// wants tells whether a tree is wanted that took so long, of a call of which the end may not have
// been seen.
func (t *Trees) wants(c *pairing.Call, took time.Duration) bool {
	if c.Outcome == pairing.Abandoned {
		t.Unseen++
		return false
	}
	return took > t.slow
}

// room tells whether there is any for a line of the slow trees.
func (t *Trees) room(n *node) bool {
	return n.tree.lines < t.limit && !t.full() && (n.parent == nil || n.parent.listed)
}
