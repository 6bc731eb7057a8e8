package tracefs

import (
	"fmt"
	"slices"
	"testing"
)

// TestProgress: what is made and removed of many events is told, of few it is not.
func TestProgress(t *testing.T) {
	for _, n := range []int{few, 3 * few} {
		f, _ := newFake(t)
		var told []string
		counts := make(map[string][]int)
		f.Progress = func(what string, done, of int) {
			if of != n {
				t.Errorf("%s: %d of %d, not of %d", what, done, of, n)
			}
			if counts[what] == nil {
				told = append(told, what)
			}
			counts[what] = append(counts[what], done)
		}
		var events []Event
		for i := range n {
			events = append(events, Event{Name: fmt.Sprintf("entry%d_0123456789", i), Sites: []uint64{uint64(i)}})
		}
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, events, Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if n > few {
			want = []string{"probes defined", "probes placed", "events disarmed", "events removed"}
		}
		if !slices.Equal(told, want) {
			t.Errorf("%d events: told of %q, want %q", n, told, want)
		}
		for what, done := range counts {
			if !slices.IsSorted(done) || done[0] != 0 || done[len(done)-1] >= n {
				t.Errorf("%s: %d of %d", what, done, n)
			}
		}
	}
}
