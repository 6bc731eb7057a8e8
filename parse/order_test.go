package parse

import (
	"fmt"
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	// Each word is an event's time; "." says that nothing more was there to read.
	for _, c := range []struct{ name, in, out string }{
		{"in order", "1 2 3 .", "1 2 3"},
		{"later event found first", "2 1 3 .", "1 2 3"},
		{"several late ones", "5 1 3 6 .", "1 3 5 6"},
		{"same time keeps the order of reading", "1 1 2 .", "1 1 2"},
		{"a pause makes places certain", "2 . 1 .", "2 1"},
		{"nothing is held back at the end", "7 .", "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o order
			var got []string
			emit := func(ev *Event) {
				if ev.Args[0] != ev.Time*10 {
					t.Errorf("event %d has the argument of another: %d", ev.Time, ev.Args[0])
				}
				got = append(got, fmt.Sprint(ev.Time))
			}
			ev := Event{Args: make([]uint64, 1)}
			for _, w := range strings.Fields(c.in) {
				if w == "." {
					o.flush(emit)
					continue
				}
				fmt.Sscan(w, &ev.Time)
				ev.Args[0] = ev.Time * 10
				o.add(&ev, emit)
			}
			if s := strings.Join(got, " "); s != c.out {
				t.Errorf("%s came out as %s, want %s", c.in, s, c.out)
			}
		})
	}
}

func TestOrderDoesNotAllocate(t *testing.T) {
	var o order
	ev := Event{Args: []uint64{1, 2, 3}}
	emit := func(*Event) {}
	next := func() {
		ev.Time += 2
		o.add(&ev, emit)
		ev.Time--
		o.add(&ev, emit)
		ev.Time++
	}
	next()
	if n := testing.AllocsPerRun(100, next); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}
