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
			m := &merge{}
			text := (&side{merge: m}).queue()
			var got []string
			for w := range strings.FieldsSeq(c.in) {
				if w == "." {
					text.empty()
				} else {
					ev := text.room()
					fmt.Sscan(w, &ev.Time)
					ev.Args = append(ev.Args[:0], ev.Time*10)
					text.push(ev)
				}
				m.release(m.certain(), func(ev *Event) {
					if ev.Args[0] != ev.Time*10 {
						t.Errorf("event %d has the argument of another: %d", ev.Time, ev.Args[0])
					}
					got = append(got, fmt.Sprint(ev.Time))
				})
			}
			if s := strings.Join(got, " "); s != c.out {
				t.Errorf("%s came out as %s, want %s", c.in, s, c.out)
			}
		})
	}
}
