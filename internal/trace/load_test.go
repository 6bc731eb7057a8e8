package trace

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// planWith has functions, and events with sites at so many of them.
func planWith(funcs int, events ...[]int) *uprobe.Plan {
	p := &uprobe.Plan{Mode: uprobe.Latency}
	for i := range funcs {
		p.Funcs = append(p.Funcs, uprobe.Function{Func: &offsets.Func{Name: fmt.Sprintf("main.f%d", i)}, Returns: true})
	}
	for _, of := range events {
		var ev uprobe.Event
		for _, fn := range of {
			ev.Sites = append(ev.Sites, uprobe.Site{Func: fn})
		}
		p.Events = append(p.Events, ev)
	}
	return p
}

// TestLoadTake: what hits cost is of the function whose they are, once where two events share a site, and
// that of the runtime is told apart.
func TestLoadTake(t *testing.T) {
	plan := planWith(2, []int{0, 1}, []int{0}, []int{0}, []int{-1})
	plan.Events[0].Sites[0].Kind, plan.Events[0].Sites[1].Kind = uprobe.Counter, uprobe.Counter
	plan.Events[1].Sites[0].Beside, plan.Events[1].Words = true, 2
	plan.Events[2].Sites[0].Kind, plan.Events[2].Sites[0].Stepped = uprobe.Return, true
	plan.Events[3].Sites[0].Kind = uprobe.GoroutineEnd
	w := &load{plan: plan, base: 2, cost: HitCost{Emulated: 1e9, Stepped: 10e9, Word: 0.5e9}, last: [][]uint64{{5, 5}}, calls: make([]uint64, 3), spent: make([]float64, 3)}
	w.take([][]uint64{{7, 5}, {2}, {1}, {4}})
	if got := fmt.Sprint(w.calls, w.spent); got != "[2 0 4] [14 0 4]" {
		t.Error(got)
	}
	w.take([][]uint64{{7, 6}, {2}, {1}, {4}})
	if got := fmt.Sprint(w.calls, w.spent); got != "[2 1 4] [0 1 0]" {
		t.Error(got)
	}
}
