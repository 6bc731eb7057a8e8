package parse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// pass ends a pass over all CPUs, and begins the next.
func (m *merge) pass(take func(*Event)) {
	m.release(m.certain(), take)
	m.bound = m.latest
}

// TestMerge: each word is "CPU:TIME", a hit of a page, "hTIME", one of text, or "kTIME", a kernel event; "CPU:-" is a buffer
// found empty, "h-" no text, "|" the end of a pass over all, and "$" the end of everything.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"nothing", "0:- 1:- |", "|"},
		{"the next pass makes it certain", "0:5 0:- 1:- | 0:- 1:- |", "| 5 |"},
		{"event of a CPU that was read before", "0:- 1:20 1:- | 0:10 0:- 1:- | 0:- 1:- |", "| 10 20 | |"},
		{"events during the pass wait for the next", "0:10 0:- 1:- | 0:30 0:- 1:20 1:- | 0:- 1:- |", "| 10 20 | 30 |"},
		{"a CPU that has more holds back the others", "0:10 1:20 1:- | 0:15 1:- | 0:30 0:- 1:- |", "| 10 | 15 20 |"},
		{"both have more", "0:10 1:20 | 0:30 1:25 |", "| 10 20 |"},
		{"the end", "0:10 0:- 1:5 1:- $", "5 10"},
		{"same time", "0:10 0:- 1:10 1:- | 0:- 1:- |", "10 10 | |"},
		{"the clock leaps", "0:10 0:- 1:12 1:- | 0:9000 0:- 1:9001 1:- | 0:- 1:- |", "10 | 12 9000 | 9001 |"},
		{"the clock begins anew behind a page", "0:100 0:5 0:- 1:6 1:- | 0:- 1:- |", "6 | 100 5 |"},
		{"the clock begins anew", "0:100 0:- 1:110 1:- | 0:5 0:- 1:6 1:- | 0:7 0:- 1:- |", "100 | 5 110 6 | 7 |"},
		{"neither text nor kernel events", "h- k- |", "|"},
		{"text waits for the pass", "k- h5 h7 k- |", "5 7 |"},
		{"kernel events alone", "k5 h- k- | h- k- |", "| k5 |"},
		{"in order of time", "h5 k3 k6 h9 k12 k- | $", "k3 5 k6 9 | k12"},
		{"text that comes late", "k3 h- k- | h2 k9 k- | h- k- |", "| 2 | k3 k9 |"},
		{"at the same time the hit comes first", "k5 h5 k- |", "5 k5 |"},
		{"the end of both", "k7 h3 $", "3 k7"},
		{"the clock begins anew for both", "h50 k60 h- k- | h- k- | h5 k6 h- k- | h7 k- |", "50 | k60 | 5 k6 | 7 |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			take := func(ev *Event) { got = append(got, map[bool]string{true: "k"}[ev.Kernel]+fmt.Sprint(ev.Time)) }
			kernel, err := newFormats(nil, []string{tinyFormat})
			if err != nil {
				t.Fatal(err)
			}
			m := &merge{}
			hits, events, text := &side{merge: m, formats: tiny(t)}, &side{merge: m, formats: kernel}, (*queue)(nil)
			if strings.Contains(c.in, "h") {
				text = (&side{merge: m}).queue()
			}
			for w := range strings.FieldsSeq(c.in) {
				var cpu int
				var at uint64
				fmt.Sscanf(w, "%d:%d", &cpu, &at)
				fmt.Sscanf(w[1:], "%d", &at)
				switch {
				case w == "|":
					m.pass(take)
					got = append(got, w)
				case w == "$":
					m.release(^uint64(0), take)
				case w == "h-":
					text.empty()
				case w == "k-":
					m.bound = m.latest // a pass of its own
					events.add(0, nil)
				case w[0] == 'h':
					ev := text.room()
					ev.Time = at
					text.push(ev)
					text.settle(len(text.list))
				case w[0] == 'k':
					events.add(0, page(at-1, 0, hit(7, 1, 9, at)))
				case w[2] == '-':
					hits.add(cpu, nil)
				default:
					hits.add(cpu, page(at-1, 0, hit(7, 1, 9, at)))
				}
			}
			if s := strings.Join(got, " "); s != c.out {
				t.Errorf("came out as %s, want %s", s, c.out)
			}
		})
	}
}

// simulated is a machine whose CPUs record events, each later than all before, while
// somebody reads.
type simulated struct {
	rand *rand.Rand
	now  uint64
	cpus [][]uint64 // times not yet read
	made int
	busy int // the CPU that has most of them
}

func (s *simulated) record(n int) {
	for range n {
		s.now += 1 + s.rand.Uint64N(3)
		cpu := s.busy
		if s.rand.IntN(4) == 0 {
			cpu = s.rand.IntN(len(s.cpus))
		}
		s.cpus[cpu] = append(s.cpus[cpu], s.now)
		s.made++
	}
}

// take is the next page of a CPU: at most a handful of events.
func (s *simulated) take(cpu int) []byte {
	waiting := s.cpus[cpu]
	n := min(len(waiting), 5)
	if n == 0 {
		return nil
	}
	var records [][]byte
	at := waiting[0]
	for _, stamp := range waiting[:n] {
		records = append(records, hit(7, uint32(stamp-at), 9, stamp))
		at = stamp
	}
	s.cpus[cpu] = waiting[n:]
	return page(waiting[0], 0, records...)
}

// TestRawMergeOrder reads machines while they record: all events must come out, in order
// of time, and soon.
func TestRawMergeOrder(t *testing.T) {
	for seed := range uint64(200) {
		s := &simulated{rand: rand.New(rand.NewPCG(seed, 1))}
		s.cpus = make([][]uint64, 1+s.rand.IntN(9))
		s.busy = s.rand.IntN(len(s.cpus))
		var last uint64
		seen := 0
		m := &side{merge: &merge{}, formats: tiny(t)}
		take := func(ev *Event) {
			if ev.Time <= last || ev.Time != ev.Args[0] {
				t.Fatalf("seed %d: event of %d with %d behind one of %d", seed, ev.Time, ev.Args[0], last)
			}
			last = ev.Time
			seen++
		}
		pass := func(busy bool) {
			for cpu := range s.cpus {
				left := 3
				for ; left > 0; left-- {
					if busy {
						s.record(s.rand.IntN(8))
					}
					page := s.take(cpu)
					m.add(cpu, page)
					if page == nil {
						break
					}
				}
			}
			m.merge.pass(take)
		}
		for range 100 {
			pass(s.rand.IntN(3) > 0)
		}
		for range s.made/15 + 2 {
			pass(false)
		}
		if seen != s.made {
			t.Errorf("seed %d: %d events of %d came out by themselves", seed, seen, s.made)
		}
		if m.merge.release(^uint64(0), take); seen != s.made || m.unreadable != 0 {
			t.Errorf("seed %d: %d events of %d came out, %d unreadable", seed, seen, s.made, m.unreadable)
		}
	}
}

func TestRawMergeDoesNotAllocate(t *testing.T) {
	m, take := &side{merge: &merge{}, formats: tiny(t)}, func(*Event) {}
	pages := [][]byte{page(0, 0, hit(7, 1, 9, 1), hit(7, 2, 9, 2)), page(0, 0, hit(7, 2, 9, 1), hit(7, 2, 9, 2))}
	next := func() {
		for range 3 {
			for cpu := range pages {
				m.add(cpu, pages[cpu])
			}
		}
		m.merge.pass(take)
		for cpu := range pages {
			m.add(cpu, nil)
		}
		m.merge.pass(take)
	}
	next()
	if n := testing.AllocsPerRun(100, next); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
