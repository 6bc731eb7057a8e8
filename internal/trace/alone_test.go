package trace

import (
	"errors"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/budget"
	"github.com/ftgo/ftgo/internal/pairing"
)

// TestTallyEnds checks that hits after the end of the window are not counted.
func TestTallyEnds(t *testing.T) {
	plan := planWith(1, []int{0})
	l := &Live{window: window{plan: plan, stream: streamOf(t, plan, "")}, counted: make(map[int]uint64)}
	l.tally = &tally{armed: map[string]bool{plan.Events[0].Name: true}, doubt: errors.New("doubt"), unsure: make(map[int]uint64)}
	for i, want := range []uint64{3, 5, 5} {
		l.stopped = i == 1
		if l.count([][]uint64{{[]uint64{3, 5, 9}[i]}}); l.stream.Begun(0) != want || l.tally.unsure[0] != want {
			t.Errorf("after reading %d: %d calls, %d of them unsure, want %d", i, l.stream.Begun(0), l.tally.unsure[0], want)
		}
	}
}

// TestDoubtfulStretch checks that a stretch estimates nothing if its calls may be of other processes.
func TestDoubtfulStretch(t *testing.T) {
	for _, doubt := range []error{nil, errors.New("doubt")} {
		l := &Live{window: window{plan: planWith(1, []int{0})}, tally: &tally{doubt: doubt}}
		m := &sampler{l: l, load: &load{costs: pairing.HitCosts{Typical: pairing.UsualCost, Most: pairing.UsualCost}}}
		m.budget.Funcs = make([]budget.Func, 2)
		m.estimates.Join(0)
		m.stretch = &stretch{group: &group{}, ended: true, measured: true, took: time.Second, cpu: time.Second, calls: map[int]int{0: 7}, cpuAround: 2, secondsAround: 2}
		m.stretch.Seconds = 1
		m.addToEstimates()
		if n := m.estimates.Unseen(0, 0).Typical; (n > 0) != (doubt == nil) || m.stretch != nil {
			t.Errorf("doubt %v: %v calls in the time around", doubt, n)
		}
	}
}
