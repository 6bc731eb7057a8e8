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

// TestRatePickLeft: what has turned hot twice, or can't be timed, is not picked, nor what
// there is no event for.
func TestRatePickLeft(t *testing.T) {
	c := choiceOf(0, 1, 40_000, 2_000, 51_000, 100, 100)
	c.Funcs[0].Timed = true
	c.Funcs[3].strikes = maxStrikes
	c.Funcs[4].Eligible = false
	if got, more := c.Pick(9); !slices.Equal(got, []int{1}) || more || c.Funcs[2].TooOften != 51_000 {
		t.Errorf("pick = %v, %v; too often at %v/s", got, more, c.Funcs[2].TooOften)
	}
	c.Full = true
	if got, _ := c.Pick(9); got != nil {
		t.Errorf("pick = %v, with no room for more", got)
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
		{"the hottest few, the hottest first", choiceOf(0, 1, 170, 30_000, 28_000, 20_000, 40_000), []int{4, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.c.Funcs {
				test.c.Funcs[i].Timed = true
			}
			if hot := test.c.TooHot(); !slices.Equal(hot, test.want) {
				t.Errorf("hot %v, want %v", hot, test.want)
			}
		})
	}
}

// TestRateRareStays: a function that is seldom called is timed however much those take
// that are timed by now; they go for it when they take too much.
func TestRateRareStays(t *testing.T) {
	const rare = 2
	for _, test := range []struct {
		name         string
		first, other uint64 // calls of what is timed
		hot          []int
	}{
		{"beside what fits", 20_000, 20_000, nil},
		{"beside what is within the slack", 30_000, 25_000, nil},
		{"instead of what is not", 50_000, 24_990, []int{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := choiceOf(0, 1, test.first, test.other, 170)
			c.Funcs[0].Timed, c.Funcs[1].Timed = true, true
			if hot := c.TooHot(); !slices.Equal(hot, test.hot) {
				t.Errorf("hot %v, want %v", hot, test.hot)
			}
			if funcs, _ := c.Pick(9); !slices.Equal(funcs, []int{rare}) || c.Funcs[rare].TooOften != 0 {
				t.Errorf("picked %v, which leaves the rare one to counting for %v calls a second", funcs, c.Funcs[rare].TooOften)
			}
		})
	}
}

// TestRateLeave: so often a function is timed, and no more.
func TestRateLeave(t *testing.T) {
	c := choiceOf(0, 1, 100)
	for range maxStrikes {
		if funcs, _ := c.Pick(9); len(funcs) != 1 {
			t.Errorf("picked %v", funcs)
		}
		c.Leave(0)
	}
	if funcs, _ := c.Pick(9); len(funcs) != 0 || c.Funcs[0].TooOften != 100 {
		t.Errorf("picked %v, too often at %v/s", funcs, c.Funcs[0].TooOften)
	}
}
