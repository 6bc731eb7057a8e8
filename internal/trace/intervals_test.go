package trace

import (
	"slices"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// TestIntervalsInKernel: the intervals of each function are what the kernel has counted of that function
// since the one before.
func TestIntervalsInKernel(t *testing.T) {
	plan := &uprobe.Plan{Mode: uprobe.Latency}
	for _, name := range []string{"f", "g"} {
		plan.Funcs = append(plan.Funcs, uprobe.Function{Func: &offsets.Func{Name: name}, Sites: &offsets.Sites{}})
	}
	totals := NewTotals(plan, TotalsOptions{Clock: &Clock{}, Intervals: true})
	kept := []stats.Function{{Name: "f"}, {Name: "g", Func: 1}}
	for second, want := range [][2]uint64{{100, 7}, {200, 0}, {0, 5}} {
		for fn := range kept {
			kept[fn].Calls += want[fn]
		}
		r := &Reading{From: time.Unix(0, 0), At: time.Unix(int64(second+1), 0), Kept: slices.Clone(kept)}
		since := totals.At(r).Since
		if got := [2]uint64{since[0].Calls, since[1].Calls}; got != want {
			t.Errorf("second %d: %d calls, want %d", second+1, got, want)
		}
	}
}
