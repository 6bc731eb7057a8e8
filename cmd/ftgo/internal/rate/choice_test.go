package rate

import (
	"slices"
	"testing"
)

// choiceOf makes a choice of functions that were called so often in a second, and whose
// probes cost 10 µs a call.
func choiceOf(limit, cpus float64, fresh ...uint64) *Choice {
	c := &Choice{Limit: limit, CPUs: cpus, Seconds: 1, Funcs: make([]Func, len(fresh))}
	for i, n := range fresh {
		c.Funcs[i] = Func{Eligible: true, Cost: 1e-5, fresh: n}
	}
	return c
}

func TestRatePick(t *testing.T) {
	for _, test := range []struct {
		name    string
		c       *Choice
		most    int
		want    []int
		more    bool
		tooHigh []int
	}{
		{"up to the limit, no more", choiceOf(1000, 1, 0, 1, 1000, 1001), 9, []int{2}, true, []int{3}},
		{"those that are seldom called come later, in one batch", choiceOf(1000, 1, 3, 0, 7, 20), 9, []int{3, 2, 0}, false, nil},
		{"not too many at once", choiceOf(1000, 1, 3, 5, 7), 2, []int{2, 1}, true, nil},
		// Half a CPU is 50,000 calls of 10 µs.
		{"all together take half of a CPU", choiceOf(0, 1, 20_000, 30_000, 1), 9, []int{0}, true, []int{1}},
		{"of what is used", choiceOf(0, 0.5, 20_000, 30_000, 1), 9, []int{0}, true, []int{1}},
		{"of two CPUs", choiceOf(0, 2, 20_000, 30_000, 1), 9, []int{1, 0}, true, nil},
		{"never called", choiceOf(0, 1, 0, 0), 9, nil, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, more := test.c.Pick(test.most)
			if !slices.Equal(got, test.want) || more != test.more {
				t.Errorf("pick = %v, %v, want %v, %v", got, more, test.want, test.more)
			}
			for i, f := range test.c.Funcs {
				if (f.TooOften > 0) != slices.Contains(test.tooHigh, i) {
					t.Errorf("function %d: too often at %v/s", i, f.TooOften)
				}
			}
		})
	}
}

// TestRatePickLeft: what is timed already uses up what may be, and what has turned hot
// twice, or can't be timed, is not picked.
func TestRatePickLeft(t *testing.T) {
	c := choiceOf(0, 1, 40_000, 9_000, 2_000, 100, 100)
	c.Funcs[0].Timed = true
	c.Funcs[3].strikes = maxStrikes
	c.Funcs[4].Eligible = false
	if got, more := c.Pick(9); !slices.Equal(got, []int{2}) || more || c.Funcs[1].TooOften != 9000 {
		t.Errorf("pick = %v, %v; too often at %v/s", got, more, c.Funcs[1].TooOften)
	}
}

func TestRateTooHot(t *testing.T) {
	for _, test := range []struct {
		name string
		c    *Choice
		want []int
	}{
		{"rates vary", choiceOf(1000, 1, 1500, 1000), nil},
		{"but not so much", choiceOf(1000, 1, 1501, 1000), []int{0}},
		{"together", choiceOf(0, 1, 30_000, 40_000, 6_000), []int{1}},
		{"within the slack", choiceOf(0, 1, 30_000, 40_000, 4_000), nil},
		{"the program does more", choiceOf(0, 2, 30_000, 40_000, 6_000), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.c.Funcs {
				test.c.Funcs[i].Timed = true
			}
			hot := test.c.TooHot()
			for i, f := range test.c.Funcs {
				want := slices.Contains(test.want, i)
				if hot[i] != want || (f.strikes > 0) != want || (f.TooOften > 0) != want {
					t.Errorf("function %d: hot %v, %+v, want %v", i, hot[i], f, want)
				}
			}
		})
	}
}
