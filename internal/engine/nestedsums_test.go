package engine

import (
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// TestNetLatency checks that the cost of probes is subtracted from latencies, but not the time of nested calls, and checks
// the bounds.
func TestNetLatency(t *testing.T) {
	plan := &uprobe.Plan{Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "f"}}}}
	costs := pairing.HitCosts{Least: hitCost(5, 100, 0), Typical: hitCost(10, 200, 0), Most: hitCost(20, 300, 0)}
	call := func(goid uint64, depth int, ns, emulated, stepped uint64, how pairing.Outcome) *pairing.Call {
		return &pairing.Call{PID: 7, Goid: goid, Depth: depth, Start: 1000, End: 1000 + ns, Hits: pairing.Hits{Emulated: emulated, Stepped: stepped}, Outcome: how}
	}
	for _, c := range []struct {
		name  string
		costs pairing.HitCosts
		calls []*pairing.Call
		want  []stats.Timing
	}{
		{"raw", pairing.HitCosts{}, []*pairing.Call{call(1, 0, 500, 4, 0, pairing.Returned)}, []stats.Timing{{Raw: 500, Net: 500, High: 500}}},
		{"own probes", costs, []*pairing.Call{call(1, 0, 500, 1, 0, pairing.Returned)}, []stats.Timing{{Raw: 500, Net: 490, Low: 480, High: 495}}},
		{"nested probes", costs, []*pairing.Call{call(1, 0, 900, 3, 2, pairing.Returned)}, []stats.Timing{{Raw: 900, Net: 470, Low: 240, High: 685}}},
		{"not below 0", costs, []*pairing.Call{call(1, 0, 5, 1, 0, pairing.Returned)}, []stats.Timing{{Raw: 5}}},
		{"not below the nested calls", costs, []*pairing.Call{
			call(1, 1, 60, 1, 0, pairing.Returned), call(1, 1, 70, 1, 0, pairing.Returned), call(2, 1, 1000, 1, 0, pairing.Returned), call(1, 0, 350, 3, 2, pairing.Returned),
		}, []stats.Timing{{Raw: 60, Net: 50, Low: 40, High: 55}, {Raw: 70, Net: 60, Low: 50, High: 65}, {Raw: 1000, Net: 990, Low: 980, High: 995}, {Raw: 350, Net: 110, High: 135}}},
		{"an earlier call is not nested", costs, []*pairing.Call{
			call(1, 1, 60, 1, 0, pairing.Returned), call(1, 0, 150, 2, 0, pairing.Returned), call(1, 0, 5, 2, 0, pairing.Returned),
		}, []stats.Timing{{Raw: 60, Net: 50, Low: 40, High: 55}, {Raw: 150, Net: 130, Low: 110, High: 140}, {Raw: 5}}},
		{"an unwound call is not nested in the next", costs, []*pairing.Call{
			call(1, 2, 60, 1, 0, pairing.Returned), call(1, 1, 150, 2, 0, pairing.Unwound), call(1, 1, 20, 1, 0, pairing.Returned),
		}, []stats.Timing{{Raw: 60, Net: 50, Low: 40, High: 55}, {}, {Raw: 20, Net: 10, High: 15}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := Totals{Clock: &trace.Clock{}, Costs: &fixedCosts{HitCosts: c.costs}}
			tl.Begin(plan)
			for i, call := range c.calls {
				call.ID, call.Parent = uint64(i+1), 100
				for _, nested := range c.calls[:i] {
					if nested.Goid == call.Goid && nested.Depth == call.Depth+1 && nested.Parent == 100 {
						nested.Parent = call.ID
					}
				}
			}
			for i, call := range c.calls {
				if call.Outcome != pairing.Returned {
					tl.ended(call)
					continue
				}
				want := c.want[i]
				got, _ := tl.latency(call, int64(call.End-call.Start))
				delete(tl.nested, call.ID)
				if want.Known, want.Self = c.name != "raw", got.Self; got != want {
					t.Errorf("call %d: %+v, want %+v", i, got, want)
				}
			}
		})
	}
}

// fixedCosts implements trace.Costs with known costs, or with unknown ones if they are zero.
type fixedCosts struct {
	trace.NoCosts
	pairing.HitCosts
}

func (c *fixedCosts) Take() *pairing.HitCosts {
	if c.HitCosts == (pairing.HitCosts{}) {
		return nil
	}
	return &c.HitCosts
}

// hitCost returns a HitCost, in nanoseconds.
func hitCost(emulated, stepped, word float64) pairing.HitCost {
	return pairing.HitCost{Emulated: emulated, Stepped: stepped, Word: word}
}
