package stats

import (
	"math/rand"
	"slices"
	"testing"
)

// TestBounds: whatever a call takes without probes, as long as it is between its bounds, each
// statistic of all calls is between the statistic's, though calls have more and fewer
// probes within.
func TestBounds(t *testing.T) {
	random := rand.New(rand.NewSource(14))
	for range 200 {
		f := Function{Latency: &Histogram{}}
		var real Histogram
		for range 1 + random.Intn(50) {
			took := int64(random.ExpFloat64() * 5000)
			cost := int64(random.Intn(3)) * random.Int63n(20_000)
			least, most := int64(float64(cost)*0.75), int64(float64(cost)*1.6)
			raw := took + least + random.Int63n(most-least+1)
			real.Record(took)
			f.Time(Timing{Raw: raw, Net: max(raw-cost, 0), Low: max(raw-most, 0), High: raw - least}, true)
		}
		for _, s := range Statistics {
			low, high := f.Bounds.Of(s)
			if got := s.Of(&real); got < low || got > high {
				t.Fatalf("%s is %d, not from %d to %d", s.Name, got, low, high)
			}
		}
	}
}

// TestBoundsOfWaiting: what is waited for a CPU may be the tracer's doing, and where probes are
// most of a typical call, they may be most of a long one, too.
func TestBoundsOfWaiting(t *testing.T) {
	f := Function{Latency: &Histogram{}}
	for _, raw := range []int64{1000, 1000, 40_000} {
		f.Time(Timing{Raw: raw, Net: raw - 500, Low: raw - 750, High: raw - 400}, true)
	}
	longest := Statistics[slices.IndexFunc(Statistics[:], func(s Statistic) bool { return s.Name == "max" })]
	if low, high := f.Bounds.Of(longest); low != 10_000 || high != 39_600 {
		t.Errorf("the longest took %d to %d", low, high)
	}
	f.Bounds.Waiting = 0.5
	if low, high := f.Bounds.Of(longest); low != 5000 || high != 39_600 {
		t.Errorf("the longest took %d to %d, where half of the time a CPU was waited for", low, high)
	}
}

// TestRowRaw: a function is shown as it was seen where probes may be all of it; its split adds up
// all the same.
func TestRowRaw(t *testing.T) {
	for _, c := range []struct {
		name string
		low  int64
		want int64
		raw  bool
	}{
		{"net", 100, 600, false},
		{"as seen", 0, 1000, true},
	} {
		f := Function{Latency: &Histogram{}, Split: Split{Running: 200, Waiting: 400}}
		f.Time(Timing{Raw: 1000, Net: 600, Low: c.low, High: 700}, true)
		row := NewRow(f, 1)
		if row.Raw != c.raw || row.Latency.Sum() != c.want || row.Split.Sum() != c.want {
			t.Errorf("%s: raw %v, %d, split %d", c.name, row.Raw, row.Latency.Sum(), row.Split.Sum())
		}
	}
}

// TestBoundsSince: those of an interval are of its calls alone.
func TestBoundsSince(t *testing.T) {
	f := Function{Latency: &Histogram{}}
	f.Time(Timing{Raw: 900, Net: 500, Low: 300, High: 600}, true)
	before := f.Since(Function{})
	f.Time(Timing{Raw: 90, Net: 50, Low: 30, High: 60}, true)
	b := f.Since(before).Bounds
	if b.Raw.Sum() != 90 || b.Low.Sum() != 30 || b.High.Sum() != 60 || before.Bounds.Raw.Sum() != 900 {
		t.Errorf("raw %d, low %d, high %d, before it %d", b.Raw.Sum(), b.Low.Sum(), b.High.Sum(), before.Bounds.Raw.Sum())
	}
}
