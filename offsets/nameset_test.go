package offsets

import (
	"fmt"
	"testing"
)

// TestNameSet: names come back at their first places, however many share a slot.
func TestNameSet(t *testing.T) {
	const names, every = 1000, 7
	var funcs []Func
	s := newNameSet(names)
	firsts := make(map[string]int)
	for i := range names {
		name := fmt.Sprint("main.f", i%(names-names/every))
		want, twice := firsts[name]
		if !twice {
			firsts[name], want = i, i
		}
		if got := s.add(funcs, name); got != want {
			t.Errorf("%s at %d: first at %d, want %d", name, i, got, want)
		}
		funcs = append(funcs, Func{Name: name})
	}
	if len(firsts) == names {
		t.Error("no name comes twice")
	}
}
