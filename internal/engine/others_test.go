package engine

import "testing"

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
