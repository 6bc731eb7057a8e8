package stats

import (
	"fmt"
	"math"
	"testing"
)

// TestEstimate checks the sum, the difference and the parts of estimates.
func TestEstimate(t *testing.T) {
	w, v := &Estimate{Calls: 100, Low: 80, High: 130}, &Estimate{Calls: 260, Low: 200, High: 300}
	for _, test := range []struct {
		name string
		got  *Estimate
		want string
	}{
		{"two exact ones", (*Estimate)(nil).Plus(5, nil, 6), "<nil>"},
		{"one exact", w.Plus(50, nil, 7), "&{107 87 137}"},
		{"two", w.Plus(50, v, 90), "&{360 280 430}"},
		{"an interval", v.since(90, w, 50), "&{160 70 220}"},
		{"the first interval", w.since(50, nil, 0), "&{100 80 130}"},
		{"an interval, estimated less than before", w.since(95, v, 90), "&{5 5 5}"},
		{"none", (*Estimate)(nil).Part(1, 2), "<nil>"},
		{"all of it", w.Part(0, 0), "&{100 80 130}"},
	} {
		if got := fmt.Sprint(test.got); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if p := (&Estimate{Calls: 10_000, Low: 8000, High: 13_000}).Part(250, 1000); p.Calls != 2500 || p.Low > 2000 || p.Low < 1000 || p.High < 3250 || p.High > 6500 {
		t.Errorf("a part: %+v", p)
	}
}

// TestBounded checks that Least of an estimate without upper bound is its lower bound.
func TestBounded(t *testing.T) {
	for _, test := range []struct {
		whole   *Estimate
		bounded bool
		least   float64
	}{
		{&Estimate{100, 50, 1000}, true, 100}, {&Estimate{100, 50, math.Inf(1)}, false, 50},
	} {
		if got := test.whole.Bounded(); got != test.bounded || test.whole.Least() != test.least {
			t.Errorf("%v: bounded %v, at least %v", *test.whole, got, test.whole.Least())
		}
	}
	r := StackRow{Calls: 3, Sum: 30}.Extrapolate(&Func{Calls: 5, Completed: 5, Estimate: &Estimate{1000, 10, math.Inf(1)}})
	if r.Calls != 6 || r.Sum != 60 {
		t.Errorf("a stack of an unbounded estimate: %+v", r)
	}
}

// TestTotal checks that a sum over timed calls is extrapolated to all calls with bounds, or not at all.
func TestTotal(t *testing.T) {
	f := Func{Calls: 150, Completed: 90, Unwound: 10, CountedOnly: 50, Latency: &Histogram{}, Estimate: &Estimate{Calls: 1000, Low: 500, High: 2000}}
	for range f.Completed {
		f.Time(Timing{Raw: 10, Net: 10, Low: 8, High: 12, Known: true})
	}
	if n, low, high, ok := f.Total(); !ok || n != 9000 || low != 3600 || high != 21600 {
		t.Errorf("%v, %v to %v, %v", n, low, high, ok)
	}
	f.CutShort = 6
	if scale := f.Scale(); !math.IsNaN(scale) {
		t.Errorf("the longest calls are missing: %v", scale)
	}
	f.Estimate = nil
	if n, low, high, ok := f.Total(); !ok || n != 900 || low != 720 || high != 1080 || f.Count() != 150 {
		t.Errorf("exact: %v, %v to %v, %v", n, low, high, ok)
	}
}
