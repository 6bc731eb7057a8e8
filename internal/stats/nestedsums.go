package stats

import (
	"maps"

	"github.com/ftgo/ftgo/internal/parse"
)

// goroutineKey names a goroutine of a process, or a thread outside of any.
type goroutineKey struct {
	pid, tid int
	goid     uint64
}

func keyOfGoroutine(c *parse.Call) goroutineKey {
	if c.Goid != 0 {
		return goroutineKey{pid: c.PID, goid: c.Goid}
	}
	return goroutineKey{pid: c.PID, tid: c.TID}
}

// NestedSums add up the latencies of calls by the depth they were made at, until the call
// that they were nested in ends.
type NestedSums struct {
	of map[goroutineKey]*[]int64
	// last is what was looked up last, most often to be looked up again.
	lastKey goroutineKey
	last    *[]int64
}

// NewNestedSums returns sums of nothing.
func NewNestedSums() NestedSums { return NestedSums{of: make(map[goroutineKey]*[]int64)} }

// find returns the sums of a goroutine, nil if there are none.
func (n *NestedSums) find(key goroutineKey) *[]int64 {
	if n.last == nil || n.lastKey != key {
		n.lastKey, n.last = key, n.of[key]
	}
	return n.last
}

// Add notes a call that was nested in depth others.
func (n *NestedSums) Add(c *parse.Call, ns int64) {
	if c.Depth == 0 {
		return
	}
	key := keyOfGoroutine(c)
	sums := n.find(key)
	if sums == nil {
		sums = new([]int64)
		n.last = sums
		n.of[key] = sums
	}
	for len(*sums) <= c.Depth {
		*sums = append(*sums, 0)
	}
	(*sums)[c.Depth] += ns
}

// Take returns the sum of the calls that were nested in one that has ended, and forgets
// them.
func (n *NestedSums) Take(c *parse.Call) (sum int64) {
	if c.Hits.Emulated+c.Hits.Stepped <= 1 {
		return 0
	}
	key := keyOfGoroutine(c)
	sums := n.find(key)
	if sums == nil || len(*sums) <= c.Depth+1 {
		return 0
	}
	sum = (*sums)[c.Depth+1]
	if *sums = (*sums)[:c.Depth+1]; c.Depth == 0 {
		delete(n.of, key) // the goroutine may be gone
		n.last = nil
	}
	return sum
}

// Forget drops the sums of a process that has ended.
func (n *NestedSums) Forget(pid int) {
	maps.DeleteFunc(n.of, func(key goroutineKey, _ *[]int64) bool { return key.pid == pid })
	n.last = nil
}
