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
		{"the clock leaps", "1 2 9000000 9000001 .", "1 2 9000000 9000001"},
		{"the clock begins anew", "8 9 1 2 3 .", "8 1 2 3 9"},
		{"the clock begins anew after a pause", "8 9 . 1 2 .", "8 9 1 2"},
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
			next := &Event{}
			for w := range strings.FieldsSeq(c.in) {
				if w == "." {
					o.flush(emit)
					continue
				}
				fmt.Sscan(w, &next.Time)
				next.Args = append(next.Args[:0], next.Time*10)
				next = o.add(next, emit)
			}
			if s := strings.Join(got, " "); s != c.out {
				t.Errorf("%s came out as %s, want %s", c.in, s, c.out)
			}
		})
	}
}

func TestOrderDoesNotAllocate(t *testing.T) {
	var o order
	ev, time := &Event{}, uint64(0)
	add := func(later uint64) {
		ev.Time = time + later
		ev = o.add(ev, func(*Event) {})
	}
	next := func() {
		add(2)
		add(1)
		add(4)
		time += 4
	}
	next()
	next()
	if n := testing.AllocsPerRun(100, next); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}
