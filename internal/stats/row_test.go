package stats

import (
	"reflect"
	"testing"
)

func TestNewRowRate(t *testing.T) {
	for _, test := range []struct {
		name    string
		calls   uint64
		seconds float64
		want    float64
	}{
		{"half a second", 155, 0.5, 310},
		{"no time passed", 155, 0, 0},
		{"no calls", 0, 10, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := NewRow(Function{Calls: test.calls}, test.seconds).Rate; got != test.want {
				t.Errorf("Rate = %v, want %v", got, test.want)
			}
		})
	}
}

func TestFunctionSince(t *testing.T) {
	total := Function{Name: "main.f", Calls: 10, Completed: 7, Unwound: 1, Open: 1, Lost: 1, Latency: recorded(1, 2, 3, 4, 5, 6, 7), Events: []uint64{3, 1}}
	before := total.Since(Function{})
	total.Calls, total.Completed, total.Unwound, total.Open, total.Lost = 15, 12, 1, 2, 0
	total.Events[1] = 5
	for _, v := range []int64{50, 60, 70, 80, 90} {
		total.Latency.Record(v)
	}

	t.Run("second interval", func(t *testing.T) {
		got := total.Since(before)
		equal(t, got.Latency, recorded(50, 60, 70, 80, 90))
		got.Latency = nil
		// A lost call whose line came late after all is no reason for 2^64-1 lost.
		if want := (Function{Name: "main.f", Calls: 5, Completed: 5, Open: 2, Events: []uint64{0, 4}}); !reflect.DeepEqual(got, want) {
			t.Errorf("Since = %+v, want %+v", got, want)
		}
	})
	t.Run("first interval", func(t *testing.T) {
		got := before.Since(Function{})
		equal(t, got.Latency, recorded(1, 2, 3, 4, 5, 6, 7))
		if got.Latency == before.Latency {
			t.Error("Since shares the histogram")
		}
		if got.Calls != 10 || got.Lost != 1 {
			t.Errorf("Calls, Lost = %d, %d, want 10, 1", got.Calls, got.Lost)
		}
	})
	t.Run("counted only", func(t *testing.T) {
		got := Function{Calls: 9}.Since(Function{Calls: 4})
		if got.Calls != 5 || got.Latency != nil {
			t.Errorf("Since = %+v, want 5 calls, no latency", got)
		}
	})
}
