package engine

import (
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// TestPendingCalls checks that calls that end before the costs are known get the same latencies as later calls.
func TestPendingCalls(t *testing.T) {
	plan := &uprobe.Plan{Mode: uprobe.Latency, Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "f"}, Sites: &offsets.Sites{}}}}
	costs := pairing.HitCosts{Least: hitCost(50, 500, 0), Typical: hitCost(100, 900, 0), Most: hitCost(200, 1500, 0)}
	calls := []pairing.Call{
		{PID: 7, Goid: 1, Depth: 1, End: 160, Outcome: pairing.Returned},
		{PID: 7, Goid: 1, Depth: 1, End: 170, Outcome: pairing.Unwound},
		{PID: 7, Goid: 1, Depth: 0, End: 900, Hits: pairing.Hits{Emulated: 3, Stepped: 2}, Outcome: pairing.Returned},
		{PID: 7, Goid: 2, Depth: 0, End: 500, Outcome: pairing.Returned},
	}
	timed := func(measuredAt int) *Totals {
		measured := &laterCosts{}
		tl := NewTotals(plan, TotalsOptions{Clock: &trace.Clock{}, Costs: measured})
		for i := range calls {
			if i == measuredAt {
				measured.HitCosts, measured.ready = costs, true
			}
			call := calls[i]
			tl.ended(&call)
			call = pairing.Call{} // the stream reuses its memory
		}
		if measuredAt == len(calls) {
			if len(tl.pending) != len(calls) {
				t.Errorf("%d calls are pending, want %d", len(tl.pending), len(calls))
			}
			measured.HitCosts, measured.ready = costs, true
		}
		tl.flushPending()
		return tl
	}
	want := timed(0)
	if want.funcs[0].Completed != 3 || want.funcs[0].Bounds == nil {
		t.Fatalf("%d calls completed, bounds %v", want.funcs[0].Completed, want.funcs[0].Bounds)
	}
	for at := 1; at <= len(calls); at++ {
		got := timed(at)
		if !reflect.DeepEqual(got.funcs, want.funcs) || len(got.pending) > 0 {
			t.Errorf("costs known after %d calls: %+v, want %+v", at, got.funcs, want.funcs)
		}
	}
}

// laterCosts implements trace.Costs with costs that become known when ready is set.
type laterCosts struct {
	trace.NoCosts
	pairing.HitCosts
	ready bool
}

func (c *laterCosts) Ready() bool { return c.ready }
func (c *laterCosts) Take() *pairing.HitCosts {
	if c.HitCosts == (pairing.HitCosts{}) {
		return nil
	}
	return &c.HitCosts
}

// hitCost returns a HitCost, in nanoseconds.
func hitCost(emulated, stepped, word float64) pairing.HitCost {
	return pairing.HitCost{Emulated: emulated, Stepped: stepped, Word: word}
}
