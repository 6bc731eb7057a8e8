package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestManyValues checks the rows of a million calls with 100,000 values: their bounds, the memory, and that the intervals
// add up to the whole.
func TestManyValues(t *testing.T) {
	const calls, values = 1_000_000, 100_000
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.05, 1, values-1)
	for name, next := range map[string]func(i int) int{
		"some are frequent":      func(int) int { return int(zipf.Uint64()) },
		"all are as frequent":    func(i int) int { return i % values },
		"the frequent come last": func(i int) int { return i % values * min(1, max(0, calls*9/10-i)) },
		"weighed by their size":  func(int) int { return int(zipf.Uint64()) },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "some are frequent" {
				fixture.NeedLong(t)
			}
			keptBy := ByCalls
			if name == "weighed by their size" {
				keptBy = BySum
			}
			plan := &uprobe.Plan{Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "f"}}}}
			observe := func(c *pairing.Call) (stats.RowKey, *int64, bool) {
				return stats.RowKey{Value: fmt.Sprintf("/api/user/%d/some/path", c.Args[0])}, new(int64(c.Args[1])), false
			}
			costs := pairing.HitCosts{Least: hitCost(50, 500, 0), Typical: hitCost(100, 900, 0), Most: hitCost(200, 1500, 0)}
			totals := Totals{
				Clock: &trace.Clock{}, Costs: &fixedCosts{HitCosts: costs}, ByValue: true, Observe: observe, KeptBy: keptBy, Amounts: true, Intervals: true,
			}
			totals.Begin(plan)
			before := inUse()
			weights := make([]uint64, values)
			var weight, largest uint64
			since := make(map[uint64]uint64)
			var sinceCalls, sinceCompleted uint64
			at := func(n uint64, last bool) *trace.Reading {
				funcs := []pairing.Count{{Calls: n, Timed: n}}
				table := &trace.Reading{Summary: stats.Summary{Began: time.Unix(0, 0)}, Last: last, At: time.Unix(int64(n), 0), Counts: &pairing.Counts{Funcs: funcs}}
				totals.At(table)
				for _, r := range table.Since {
					since[r.Serial] += r.Calls
					sinceCalls, sinceCompleted = sinceCalls+r.Calls, sinceCompleted+r.Latency.Count()
				}
				return table
			}
			for i := range calls {
				v := next(i)
				size := uint64(10_000 + 1000*(v%10) + random.IntN(100_000))
				totals.ended(&pairing.Call{End: size, Args: []uint64{uint64(v), size}, Hits: pairing.Hits{Emulated: 1}})
				w := uint64(1)
				if keptBy == BySum {
					w = size
				}
				weights[v] += w
				weight += w
				if i%150_000 == 149_999 {
					at(uint64(i+1), false)
					largest = max(largest, inUse()-before)
				}
			}
			table := at(calls, true)
			if largest = max(largest, inUse()-before); largest > 60<<20 {
				t.Errorf("%d MB are in use", largest>>20)
			}
			if sinceCalls != calls || sinceCompleted != calls {
				t.Errorf("intervals have %d calls and %d latencies", sinceCalls, sinceCompleted)
			}
			kept, promised := table.Values, weight/stats.MaxValues
			if kept.AtMost > promised || kept.Most != stats.MaxValues || len(table.Whole) > stats.MaxValues+1 {
				t.Errorf("%+v, %d rows of a weight of %d", kept, len(table.Whole), weight)
			}
			rows := make(map[int]stats.Func)
			var sum uint64
			for _, r := range table.Whole {
				if sum += r.Calls; r.Kind == stats.Others {
					continue
				}
				var v int
				fmt.Sscanf(r.Value, "/api/user/%d", &v)
				rows[v] = r
				has := r.Calls
				if keptBy == BySum {
					has = uint64(r.Amounts.Sum())
				}
				if has > weights[v] || has+r.Missed < weights[v] || r.Missed > kept.AtMost || r.Latency.Count() != r.Calls {
					t.Errorf("%s: %d to %d, of %d", r.Value, has, has+r.Missed, weights[v])
				}
			}
			if sum != calls {
				t.Errorf("rows have %d calls", sum)
			}
			order := make([]int, values)
			for v := range order {
				if order[v] = v; weights[v] > kept.AtMost && rows[v].Name == "" {
					t.Errorf("value %d, which weighs %d, has no row", v, weights[v])
				}
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
			exact := 0
			for _, v := range order[:20] {
				if rows[v].Name != "" && rows[v].Missed == 0 {
					exact++
				}
			}
			if want := map[string]int{"some are frequent": 20, "weighed by their size": 20}[name]; exact < want {
				t.Errorf("%d of the first 20 are exact", exact)
			}
			t.Logf("%d MB, %d of the first 20 exact, %+v", largest>>20, exact, *kept)
		})
	}
}

// TestWeightlessValues checks that a value that lost its row and got one again is not exact, even if its calls have no
// weight.
func TestWeightlessValues(t *testing.T) {
	plan := &uprobe.Plan{Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "f"}}}}
	observe := func(c *pairing.Call) (stats.RowKey, *int64, bool) {
		return stats.RowKey{Value: fmt.Sprint(c.Args[0])}, nil, false
	}
	totals := Totals{Clock: &trace.Clock{}, Costs: trace.NoCosts{}, ByValue: true, Observe: observe, KeptBy: ByTime}
	totals.Begin(plan)
	for i := range uint64(3 * stats.MaxValues) {
		totals.ended(&pairing.Call{Args: []uint64{i % (stats.MaxValues + 1)}})
	}
	funcs := []pairing.Count{{Calls: 3 * stats.MaxValues, Timed: 3 * stats.MaxValues}}
	table := &trace.Reading{Last: true, Counts: &pairing.Counts{Funcs: funcs}}
	totals.At(table)
	for _, r := range table.Whole {
		if r.Kind == stats.Valued && r.Calls < 2 && r.Missed == 0 {
			t.Fatalf("%+v seems to be exact", r)
		}
	}
	if table.Values.AtMost == 0 {
		t.Errorf("%+v", *table.Values)
	}
}

// inUse returns the size of the used heap in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestOthersBeyond checks that the program's own hits while the counters are read don't count as hits of others.
func TestOthersBeyond(t *testing.T) {
	for _, c := range []struct {
		name                            string
		others, own, pass, window, want float64
	}{
		{"no others", 0, 1e9, 0.1, 2, 0},
		{"hits while the counters were read", 8e7, 1.36e9, 0.166, 2.63, 0},
		{"others, too", 5e8, 1e9, 0.1, 2, 4e8},
		{"counters read at once", 5e6, 1e9, 0, 2, 5e6},
		{"only others", 5e6, 0, 0.1, 2, 5e6},
		{"no window", 5e6, 1, 0.1, 0, 0},
	} {
		if got := othersBeyond(c.others, c.own, c.pass, c.window); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
