package main

import "github.com/ftgo/ftgo/parse"

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

// nestedSums add up the latencies of calls by the depth they were made at, until the call
// that they were nested in ends.
type nestedSums map[goroutineKey][]int64

// add notes a call that was nested in depth others.
func (n nestedSums) add(key goroutineKey, depth int, ns int64) {
	if depth == 0 {
		return
	}
	sums := n[key]
	for len(sums) <= depth {
		sums = append(sums, 0)
	}
	sums[depth] += ns
	n[key] = sums
}

// take returns the sum of the calls that were nested in one at a depth, which has ended,
// and forgets them.
func (n nestedSums) take(key goroutineKey, depth int) (sum int64) {
	sums := n[key]
	if len(sums) <= depth+1 {
		return 0
	}
	sum = sums[depth+1]
	if n[key] = sums[:depth+1]; depth == 0 {
		delete(n, key) // the goroutine may be gone
	}
	return sum
}
