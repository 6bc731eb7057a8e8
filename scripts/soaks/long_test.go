package main

import (
	"runtime"
	"testing"
)

func TestFlat(t *testing.T) {
	for _, c := range []struct {
		second, last int
		want         bool
	}{
		{20 << 10, 20 << 10, true},
		{20 << 10, 30 << 10, true},
		{20 << 10, 31 << 10, false},
		{200 << 10, 220 << 10, true},
		{200 << 10, 230 << 10, false},
		{0, 0, false},
	} {
		if got := flat(c.second, c.last, slack("probe")); got != c.want {
			t.Errorf("%d kB, then %d: flat %v", c.second, c.last, got)
		}
	}
	if n := 16 << 10 * runtime.NumCPU(); slack("probe --reader raw") != slack("trace")+n {
		t.Errorf("slack of the raw reader is not %d kB more", n)
	}
	if second, last := (&memory{stop: make(chan struct{}), kB: []int{90, 1, 2, 3, 5, 4, 7}}).end(); second != 3 || last != 7 {
		t.Errorf("most of the second third %d, of the last %d, want 3 and 7", second, last)
	}
}
