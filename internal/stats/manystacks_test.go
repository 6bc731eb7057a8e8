package stats

import (
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
)

// TestManyStacks: so many stacks are told apart, and the calls that come from others are all there, from callers that are
// not known.
func TestManyStacks(t *testing.T) {
	const calls = 101_000
	var s Stacks
	c := &pairing.Call{Func: 1, Outcome: pairing.Returned}
	for i := range uint64(calls) {
		s.Add(c, []uint64{1000 + i, 7}, Timing{Net: 2}, 1, 0, 0)
		s.Add(c, []uint64{1000, 7}, Timing{Net: 2}, 1, 0, 0) // known
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
