package stats

import (
	"math/rand"
	"reflect"
	"slices"
	"testing"
)

func TestFuncSince(t *testing.T) {
	total := Func{Name: "main.f", Calls: 10, Completed: 7, Unwound: 1, Open: 1, Lost: 1, Latency: recorded(1, 2, 3, 4, 5, 6, 7), Events: map[string]uint64{"a": 3, "b": 1}}
	before := total.Since(Func{})
	total.Calls, total.Completed, total.Unwound, total.Open, total.Lost = 15, 12, 1, 2, 0
	total.Events["b"] = 5
	for _, v := range []int64{50, 60, 70, 80, 90} {
		total.Latency.Record(v)
	}

	t.Run("second interval", func(t *testing.T) {
		got := total.Since(before)
		equal(t, got.Latency, recorded(50, 60, 70, 80, 90))
		got.Latency = nil
		// Lost has decreased, because a line came late; the difference must not become 2^64-1.
		if want := (Func{Name: "main.f", Calls: 5, Completed: 5, Open: 2, Events: map[string]uint64{"a": 0, "b": 4}}); !reflect.DeepEqual(got, want) {
			t.Errorf("Since = %+v, want %+v", got, want)
		}
	})
	t.Run("first interval", func(t *testing.T) {
		got := before.Since(Func{})
		equal(t, got.Latency, recorded(1, 2, 3, 4, 5, 6, 7))
		if got.Latency == before.Latency {
			t.Error("Since shares the histogram")
		}
		if got.Calls != 10 || got.Lost != 1 {
			t.Errorf("Calls, Lost = %d, %d, want 10, 1", got.Calls, got.Lost)
		}
	})
	t.Run("counted only", func(t *testing.T) {
		got := Func{Calls: 9}.Since(Func{Calls: 4}).Over(0.5)
		if timeless := got.Over(0); got.Calls != 5 || got.Latency != nil || got.Rate() != 10 || timeless.Rate() != 0 {
			t.Errorf("Since = %+v, want 5 calls, no latency", got)
		}
	})
	t.Run("with bounds", func(t *testing.T) {
		f := Func{Latency: &Histogram{}, Split: Split{1, 2, 3}}
		f.Time(Timing{Raw: 900, Net: 500, Low: 300, High: 600, Known: true})
		before := f.Since(Func{})
		f.Time(Timing{Raw: 90, Net: 50, Low: 30, High: 60, Known: true})
		f.Split = Split{20, 30, 50}
		got := f.Since(before)
		if b := got.Bounds; got.Split != (Split{19, 28, 47}) || b.Raw.Sum() != 90 || b.Low.Sum() != 30 || b.High.Sum() != 60 || before.Bounds.Raw.Sum() != 900 {
			t.Errorf("%+v, raw %d, low %d, high %d, before it %d", got.Split, b.Raw.Sum(), b.Low.Sum(), b.High.Sum(), before.Bounds.Raw.Sum())
		}
	})
}

func TestSplitOf(t *testing.T) {
	for _, c := range []struct {
		in   Split
		ns   int64
		want Split
	}{
		{Split{20, 30, 50}, 100, Split{20, 30, 50}},
		{Split{20, 30, 50}, 90, Split{10, 30, 50}},
		{Split{20, 30, 50}, 110, Split{30, 30, 50}},
		{Split{20, 30, 50}, 70, Split{0, 20, 50}},
		{Split{20, 30, 50}, 7, Split{0, 0, 7}},
		{Split{20, 30, 50}, 0, Split{}},
	} {
		if got := c.in.WithSum(c.ns); got != c.want || got.Sum() != c.ns {
			t.Errorf("%v of %d: %v, want %v", c.in, c.ns, got, c.want)
		}
	}
}

// TestBounds checks that each statistic of the true latencies is between its bounds if each true latency is between the
// bounds of its call.
func TestBounds(t *testing.T) {
	random := rand.New(rand.NewSource(14))
	for range 200 {
		f := Func{Latency: &Histogram{}}
		var real Histogram
		for range 1 + random.Intn(50) {
			took := int64(random.ExpFloat64() * 5000)
			cost := int64(random.Intn(3)) * random.Int63n(20_000)
			least, most := int64(float64(cost)*0.75), int64(float64(cost)*1.6)
			raw := took + least + random.Int63n(most-least+1)
			real.Record(took)
			f.Time(Timing{Raw: raw, Net: max(raw-cost, 0), Low: max(raw-most, 0), High: raw - least, Known: true})
		}
		for _, s := range Statistics {
			low, high := f.Bounds.Of(s)
			if got := s.Of(&real); got < low || got > high {
				t.Fatalf("%s is %d, not from %d to %d", s.Name, got, low, high)
			}
		}
	}
}

// TestBoundsOfWaiting checks the lower bound of the maximum if probes are a large share of a typical call, and if the
// program waited for a CPU.
func TestBoundsOfWaiting(t *testing.T) {
	f := Func{Latency: &Histogram{}}
	for _, raw := range []int64{1000, 1000, 40_000} {
		f.Time(Timing{Raw: raw, Net: raw - 500, Low: raw - 750, High: raw - 400, Known: true})
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

// TestRaw checks that latencies are shown raw if probes may be all of them, and that the split has the same sum.
func TestRaw(t *testing.T) {
	for _, c := range []struct {
		name string
		low  int64
		want int64
		raw  bool
	}{
		{"net", 100, 600, false},
		{"as seen", 0, 1000, true},
	} {
		f := Func{Latency: &Histogram{}, Split: Split{Running: 200, Waiting: 400}}
		f.Time(Timing{Raw: 1000, Net: 600, Low: c.low, High: 700, Known: true})
		if f.Raw() != c.raw || f.ShownLatency().Sum() != c.want || f.ShownSplit().Sum() != c.want {
			t.Errorf("%s: raw %v, %d, split %d", c.name, f.Raw(), f.ShownLatency().Sum(), f.ShownSplit().Sum())
		}
	}
}
