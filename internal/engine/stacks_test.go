package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
)

func TestStacks(t *testing.T) {
	s := &Stacks{rows: make(map[string]*stats.StackRow)}
	add := func(fn int, how pairing.Outcome, ns, self int64, pcs ...uint64) {
		s.add(&pairing.Call{Func: fn, Outcome: how}, pcs, stats.Timing{Net: ns, Self: self}, self/2, 2)
	}
	pcs := []uint64{1, 2}
	s.add(&pairing.Call{Func: 1}, pcs, stats.Timing{Net: 10, Self: 4}, 2, 2)
	pcs[0] = 99 // Add must not keep the slice
	add(1, pairing.Returned, 30, 30, 1, 2)
	add(1, pairing.Unwound, 0, 0, 1, 2)
	add(1, pairing.Open, 0, 0, 1, 2)
	add(1, pairing.Returned, math.MaxInt64, 1, 7)
	add(1, pairing.Returned, 5, 1, 7)
	add(0, pairing.Unwound, 0, 0)
	add(0, pairing.Returned, 1, 1, 1, 2, 3)
	want := []stats.StackRow{
		{Func: 0, Calls: 1, Unwound: 1},
		{Func: 0, PCs: []uint64{1, 2, 3}, Calls: 1, Completed: 1, Min: 1, Max: 1, Sum: 1, Self: 1},
		{Func: 1, PCs: []uint64{1, 2}, Calls: 4, Completed: 2, Unwound: 1, Open: 1, Min: 10, Max: 30, Sum: 40, Self: 34, Runnable: 17},
		{Func: 1, PCs: []uint64{7}, Calls: 2, Completed: 2, Min: 5, Max: math.MaxInt64, Sum: math.MaxInt64, Self: 2},
	}
	got := s.Rows()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		same := slices.Equal(g.PCs, w.PCs)
		g.PCs, w.PCs = nil, nil
		if !same || g.Func != w.Func || g.Calls != w.Calls || g.Completed != w.Completed || g.Unwound != w.Unwound || g.Open != w.Open ||
			g.Min != w.Min || g.Max != w.Max || g.Sum != w.Sum || g.Self != w.Self || g.Runnable != w.Runnable || g.Amount != 2*int64(g.Calls) {
			t.Errorf("row %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestManyStacks checks that at most MaxStacks stacks have rows, and that calls with other stacks are counted in the
// row with unknown callers.
func TestManyStacks(t *testing.T) {
	const calls = 101_000
	s := &Stacks{rows: make(map[string]*stats.StackRow)}
	c := &pairing.Call{Func: 1, Outcome: pairing.Returned}
	for i := range uint64(calls) {
		s.add(c, []uint64{1000 + i, 7}, stats.Timing{Net: 2, Self: 1}, 0, 0)
		s.add(c, []uint64{1000, 7}, stats.Timing{Net: 2, Self: 1}, 0, 0) // known
	}
	var all, sum, beyond, known uint64
	for _, row := range s.Rows() {
		all, sum = all+row.Calls, sum+uint64(row.Sum)
		switch row.PCs[0] {
		case 0:
			beyond += row.Calls
		case 1000:
			known = row.Calls
		}
	}
	if n := len(s.Rows()); n > MaxStacks+1 || all != 2*calls || sum != 4*calls || beyond != calls-MaxStacks || s.Beyond != beyond || known != calls+1 {
		t.Errorf("%d stacks, %d calls of %d, %d ns, %d from callers that are not known, %d of one that is", n, all, 2*calls, sum, beyond, known)
	}
}
