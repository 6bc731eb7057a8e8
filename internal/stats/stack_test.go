package stats

import (
	"reflect"
	"testing"
)

// TestStackOf checks that a stack is extrapolated by the ratio of all calls to timed calls.
func TestStackOf(t *testing.T) {
	row := StackRow{Calls: 10, Completed: 8, Unwound: 2, Min: 5, Max: 70, Sum: 300, Self: 200, Amount: 9}
	f := Func{Calls: 100, CountedOnly: 60, Estimate: &Estimate{Calls: 4000}}
	want := StackRow{Calls: 1000, Completed: 800, Unwound: 200, Min: 5, Max: 70, Sum: 30000, Self: 20000, Amount: 900}
	if got := row.Extrapolate(&f); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := row.Extrapolate(&Func{Calls: 100}); !reflect.DeepEqual(got, row) {
		t.Errorf("all were seen: %+v", got)
	}
}
