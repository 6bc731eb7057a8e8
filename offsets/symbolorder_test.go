package offsets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortNamed: whatever order names come in, the result is that of sorting.
func TestSortNamed(t *testing.T) {
	run := func(addrs ...uint64) (names []Func) {
		for i, a := range addrs {
			names = append(names, Func{Name: string(rune('a' + i)), Addr: a, rank: uint8(i % 2)})
		}
		return names
	}
	random := make([]uint64, 50)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = r.Uint64N(40)
	}
	for name, named := range map[string][]Func{
		"none":                        nil,
		"one":                         run(5),
		"sorted":                      run(1, 2, 3),
		"locals among the rest":       run(3, 7, 1, 2, 4, 8),
		"locals behind the rest":      run(8, 9, 1, 2),
		"locals at the same places":   run(1, 2, 3, 1, 2, 3),
		"equal neighbours":            run(1, 1, 2, 2, 1),
		"few behind the rest":         run(2, 4, 6, 8, 10, 12, 14, 15, 9, 1),
		"locals, the rest and more":   run(3, 7, 1, 2, 4, 8, 9, 10, 11, 6, 5),
		"three runs":                  run(5, 6, 3, 4, 1, 2),
		"four runs":                   run(7, 8, 5, 6, 3, 4, 1, 2),
		"descending":                  run(4, 3, 2, 1),
		"random, with equal ones too": run(random...),
	} {
		want := slices.Clone(named)
		slices.SortFunc(want, byAddress)
		sortNamed(named)
		if !slices.EqualFunc(named, want, func(x, y Func) bool { return byAddress(x, y) == 0 }) {
			t.Errorf("%s: %v, want %v", name, named, want)
		}
	}
}
