package trace

import (
	"context"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// knownCosts are known from the start.
type knownCosts struct {
	NoCosts
	pairing.HitCosts
}

func (k *knownCosts) Begin(context.Context)   {}
func (k *knownCosts) Now()                    {}
func (k *knownCosts) Take() *pairing.HitCosts { return &k.HitCosts }

// BenchmarkTotals is what becomes of a call that has returned.
func BenchmarkTotals(b *testing.B) {
	costs := &knownCosts{HitCosts: pairing.HitCosts{Least: hitCost(400, 3000, 10), Typical: hitCost(600, 5000, 15), Most: hitCost(900, 8000, 20)}}
	base, err := machine.NewTimebase(machine.Counter, machine.Reading{}, machine.Reading{Ticks: 3e9, At: time.Time{}.Add(time.Second)})
	if err != nil {
		b.Fatal(err)
	}
	var clock Clock
	clock.set(base)
	plan := &uprobe.Plan{Mode: uprobe.Latency, Funcs: []uprobe.Function{{Func: &offsets.Func{Name: "main.f"}, Sites: &offsets.Sites{}, Returns: true}}}
	t := NewTotals(plan, TotalsOptions{Clock: &clock, Costs: costs})
	call := pairing.Call{PID: 7, TID: 7, Goid: 1, Start: 1e9, Hits: pairing.Hits{Emulated: 1}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		call.Start += 30000
		call.End = call.Start + uint64(20000+i%1000)
		t.Return(&call)
	}
}
