package main

import (
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// TestNetLatency takes off what probes cost, but not what nested calls took.
func TestNetLatency(t *testing.T) {
	plan := &uprobe.Plan{Mode: uprobe.Latency, Funcs: []uprobe.Function{{Func: &offsets.Func{Name: "f"}, Sites: &offsets.Sites{}}}}
	emulated, stepped := hitCost{call: 100, within: 10}, hitCost{call: 300, within: 200}
	call := func(goid uint64, depth int, ns, nested, nestedStepped uint64, how parse.Outcome) *parse.Call {
		return &parse.Call{PID: 7, Goid: goid, Depth: depth, Start: 1000, End: 1000 + ns, Nested: nested, NestedStepped: nestedStepped, Outcome: how}
	}
	for _, c := range []struct {
		name  string
		costs hitCosts
		calls []*parse.Call
		want  []int64
	}{
		{"raw", hitCosts{}, []*parse.Call{call(1, 0, 500, 3, 0, parse.Returned)}, []int64{500}},
		{"own probes", hitCosts{emulated, stepped}, []*parse.Call{call(1, 0, 500, 0, 0, parse.Returned)}, []int64{490}},
		{"nested probes", hitCosts{emulated, stepped}, []*parse.Call{call(1, 0, 900, 2, 1, parse.Returned)}, []int64{390}},
		{"not below nothing", hitCosts{emulated, stepped}, []*parse.Call{call(1, 0, 5, 0, 0, parse.Returned)}, []int64{0}},
		{"not below what is nested", hitCosts{emulated, stepped}, []*parse.Call{
			call(1, 1, 60, 0, 0, parse.Returned), call(1, 1, 70, 0, 0, parse.Returned), call(2, 1, 1000, 0, 0, parse.Returned), call(1, 0, 150, 2, 0, parse.Returned),
		}, []int64{50, 60, 990, 110}},
		{"what went before is no part of it", hitCosts{emulated, stepped}, []*parse.Call{
			call(1, 1, 60, 0, 0, parse.Returned), call(1, 0, 150, 1, 0, parse.Returned), call(1, 0, 50, 1, 0, parse.Returned),
		}, []int64{50, 50, 0}},
		{"what was unwound is no part of what follows", hitCosts{emulated, stepped}, []*parse.Call{
			call(1, 2, 60, 0, 0, parse.Returned), call(1, 1, 150, 1, 0, parse.Unwound), call(1, 1, 20, 0, 0, parse.Returned),
		}, []int64{50, -1, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newTally(plan, false)
			tl.costs = &measuring{costs: c.costs, measured: make(chan struct{})}
			close(tl.costs.measured)
			for i, call := range c.calls {
				if call.Outcome != parse.Returned {
					tl.add(call)
				} else if got, _ := tl.latency(call, int64(call.End-call.Start)); got != c.want[i] {
					t.Errorf("call %d: %d ns, want %d", i, got, c.want[i])
				}
			}
		})
	}
}
