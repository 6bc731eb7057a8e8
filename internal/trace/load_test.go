package trace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// planWith returns a plan with functions f0, f1, and so on. Each event has sites at the given functions.
func planWith(funcs int, events ...[]int) *uprobe.Plan {
	p := &uprobe.Plan{Processor: amd64.Processor}
	for i := range funcs {
		p.Funcs = append(p.Funcs, uprobe.Probe{Func: &offsets.Func{Name: fmt.Sprintf("main.f%d", i)}, Returns: true})
	}
	for _, of := range events {
		var ev uprobe.Event
		ev.Name = fmt.Sprintf("e%d_0123456789abcd", len(p.Events))
		for _, fn := range of {
			ev.Sites = append(ev.Sites, uprobe.Site{Func: fn})
		}
		p.Events = append(p.Events, ev)
	}
	return p
}

// TestLoadUpdate checks that the cost of hits is charged to their functions, and the cost of runtime probes separately.
func TestLoadUpdate(t *testing.T) {
	plan := planWith(2, []int{0, 1}, []int{0}, []int{-1})
	plan.Events[0].Words = 2
	plan.Events[1].Sites[0].Kind, plan.Events[1].Sites[0].Stepped = uprobe.Return, true
	plan.Events[2].Sites[0].Kind = uprobe.GoroutineEnd
	w := &load{plan: plan, runtimeIndex: 2, stream: streamOf(t, plan, ""), last: [][]uint64{{5, 5}}, calls: make([]float64, 3), spent: make([]float64, 3)}
	w.costs.Typical = pairing.HitCost{Emulated: 1e9, Stepped: 10e9, Word: 0.5e9}
	if spent := w.update([][]uint64{{7, 5}, {1}, {4}}); fmt.Sprint(spent, w.calls, w.spent) != "18 [2 0 4] [14 0 4]" {
		t.Error(spent, w.calls, w.spent)
	}
	if spent := w.update([][]uint64{{7, 6}, {1}, {4}}); fmt.Sprint(spent, w.calls, w.spent) != "2 [0 1 0] [0 2 0]" {
		t.Error(spent, w.calls, w.spent)
	}
}

// streamOf returns a stream that has read a trace.
func streamOf(t *testing.T, plan *uprobe.Plan, text string) *pairing.Stream {
	stream, err := pairing.NewStream(plan, oneTrace{strings.NewReader(text)}, pairing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		for _, err = range stream.Read(t.Context()) {
		}
	}
	return stream
}

// oneTrace is a trace of one process as text.
type oneTrace struct {
	*strings.Reader
}

func (o oneTrace) Read(_ context.Context, b []byte) (int, error) { return o.Reader.Read(b) }

// TestLoadFaults checks that the faults of the delivered hits are assumed for all hits and for later calls, and that they
// count in costOf until the next update.
func TestLoadFaults(t *testing.T) {
	plan := planWith(1, []int{0})
	ev := &plan.Events[0]
	ev.Name, ev.Faults, ev.Fields, ev.Sites[0].Addr = "e0_0123456789abcd", true, uprobe.Fields{SP: -1, Values: 0}, 0x1000
	ev.Args = []tracefs.Arg{{Name: "v0", Fetch: "%ax", Type: "s64"}, {Name: "v1", Fetch: "+0(%ax)", Type: "x64[2]"}}
	hit := " prog-1 (1) [000] d.... 1.000001: e0_0123456789abcd: (0x1000) v0=%d v1={0x0,0x0}\n"
	stream := streamOf(t, plan, fmt.Sprintf(hit+hit, 0, 1<<20))
	w := &load{plan: plan, runtimeIndex: 1, stream: stream, calls: make([]float64, 2), spent: make([]float64, 2)}
	w.costs.Typical = pairing.HitCost{Fault: 1e9}
	if cost := w.costOf(2); cost != 2 {
		t.Errorf("events of %v s", cost)
	}
	m := &sampler{l: &Live{window: window{stream: stream}}, load: w, stretch: &stretch{open: true}}
	for most, want := range map[float64]bool{1.9: true, 2.1: false} {
		if m.stretch.Most = most; m.overspent() != want {
			t.Errorf("a stretch that took 2 s and may take %v is overspent: %v", most, !want)
		}
	}
	w.update([][]uint64{{10}})
	if _, timed := w.callCosts(0); w.spent[0] != 10 || timed != 1 {
		t.Errorf("hits of %v s, a call of %v", w.spent[0], timed)
	}
	if cost := w.costOf(2); cost != 0 {
		t.Errorf("events of %v s since the last update", cost)
	}
}

// TestLoadShare checks that the traced processes are charged for their share of the hits, unless only they have probes.
func TestLoadShare(t *testing.T) {
	plan := planWith(1, []int{0})
	for _, alone := range []bool{false, true} {
		w := &load{plan: plan, alone: alone, runtimeIndex: 1, stream: streamOf(t, plan, ""), calls: make([]float64, 2), spent: make([]float64, 2)}
		w.costs.Typical.Emulated = 1e9
		w.cpuTimes, w.all = procfs.NewCPUTimes([]int{1 << 23}, ""), procfs.NewCPUTimes([]int{os.Getpid()}, "") // the traced process uses no time
		for begin := procfs.ThreadTime(); procfs.ThreadTime() == begin; {
		}
		if spent := w.update([][]uint64{{7}}); (spent == 7) != alone || (spent == 0) == alone {
			t.Errorf("alone %v: spent %v", alone, spent)
		}
	}
}
