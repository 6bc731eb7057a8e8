package calltree

import (
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
)

// OnlySlow restricts the trees to those that took longer. Then a tree keeps at most MaxTree lines, and all
// trees maxSlow; lines beyond that are dropped and counted.
func (t *Trees) OnlySlow(over time.Duration) { t.slow, t.total = over, maxSlow }

// Room returns the limit of lines of all trees.
func (t *Trees) Room() int { return t.total }

// took returns how long the outermost call took, once it has ended.
func (t *tree) took() time.Duration { return t.over.Sub(t.root.Time) }

// wants reports whether a tree is slow enough to be written. The duration is unknown if the outermost call was
// abandoned.
func (t *Trees) wants(c *pairing.Call, took time.Duration) bool {
	if c.Outcome == pairing.Abandoned {
		t.Unseen++
		return false
	}
	return took > t.slow
}

// room reports whether a line fits into its slow tree.
func (t *Trees) room(n *node) bool {
	return n.tree.lines < t.limit && !t.full() && (n.parent == nil || n.parent.listed)
}
