package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// pieces is all that a splitter makes of a stream.
type pieces struct {
	Lines   []string
	Rest    string
	Dropped int
}

func (p pieces) String() string {
	return fmt.Sprintf("lines %q rest %q dropped %d", p.Lines, p.Rest, p.Dropped)
}

func (p pieces) equal(q pieces) bool { return reflect.DeepEqual(p, q) }

func splitWhole(text []byte) pieces { return splitAll([][]byte{text}) }

// splitAll spoils the room after use, as the next read into it does.
func splitAll(chunks [][]byte) pieces {
	var (
		s splitter
		p pieces
	)
	for _, chunk := range chunks {
		for part := range slices.Chunk(chunk, maxLine) {
			s.feed(copy(s.room(), part), func(line []byte) { p.Lines = append(p.Lines, string(line)) })
			for i := range s.room() {
				s.room()[i] = '!'
			}
		}
	}
	p.Rest, p.Dropped = string(s.rest()), s.dropped
	return p
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, test := range []struct {
		name   string
		chunks []string
		want   pieces
	}{
		{"nothing", nil, pieces{}},
		{"empty chunk", []string{""}, pieces{}},
		{"whole lines", []string{"a\nb\n", "c\n"}, pieces{Lines: []string{"a", "b", "c"}}},
		{"line over chunks", []string{"a", "b", "c\nd"}, pieces{Lines: []string{"abc"}, Rest: "d"}},
		{"newline alone in a chunk", []string{"a", "\n", "\n"}, pieces{Lines: []string{"a", ""}}},
		{"carriage return kept", []string{"a\r\n"}, pieces{Lines: []string{"a\r"}}},
		{"longest line", []string{long + "\na\n"}, pieces{Lines: []string{long, "a"}}},
		{"longest line over chunks", []string{long[1:], "x", "\na\n"}, pieces{Lines: []string{long, "a"}}},
		{"too long in a chunk", []string{"a\n" + long + "x\nb\n"}, pieces{Lines: []string{"a", "b"}, Dropped: 1}},
		{"too long over chunks", []string{"a\nx", long, "tail", "\nb\n"}, pieces{Lines: []string{"a", "b"}, Dropped: 1}},
		{"too long at its newline", []string{long, "x\nb\n"}, pieces{Lines: []string{"b"}, Dropped: 1}},
		{"too long and unfinished", []string{long, "x", "y"}, pieces{Dropped: 1}},
		{"two too long", []string{long, "x\n" + long, "x\nb"}, pieces{Rest: "b", Dropped: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var chunks [][]byte
			for _, chunk := range test.chunks {
				chunks = append(chunks, []byte(chunk))
			}
			if got := splitAll(chunks); !got.equal(test.want) {
				t.Errorf("%.300v, want %.300v", got, test.want)
			}
		})
	}
}

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
