package pairing

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// TestRetired: f (function 0) was disarmed from 3 to 6, and is timed again later.
func TestRetired(t *testing.T) {
	event := map[string]func(int, uint64, uint64) *parse.Event{"e": entryEvent, "r": returnEvent}
	type step struct {
		op    string
		fn    int
		depth uint64
		time  uint64
	}
	for _, test := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"over before", []step{{"e", 0, 8, 1}, {"r", 0, 8, 2}}, "return"},
		{"over in time", []step{{"e", 0, 8, 1}, {"r", 0, 8, 5}}, "return"},
		{"begun late", []step{{"e", 0, 8, 4}, {"r", 0, 8, 5}}, ""},
		{"a return of another call", []step{{"e", 0, 8, 1}, {"r", 0, 8, 9}}, "abandoned"},
		{"gone without a return", []step{{"e", 0, 8, 1}, {"e", 1, 8, 9}}, "abandoned open"},
		{"unwound before", []step{{"e", 0, 8, 1}, {"e", 1, 8, 2}}, "unwound open"},
		{"never seen again", []step{{"e", 0, 8, 1}}, "abandoned"},
		{"timed again", []step{{"e", 0, 8, 7}, {"r", 0, 8, 9}}, "return"},
		{"unwound after that", []step{{"e", 0, 8, 7}, {"e", 1, 8, 9}}, "unwound open"},
		{"others are not retired", []step{{"e", 1, 8, 1}, {"r", 1, 8, 9}}, "return"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			p := pairerTo(testPlan(), returns(func(c *Call) { got = append(got, c.Outcome.String()) }))
			s := &Stream{pairer: p}
			s.Retire([]int{0}, 3, ^uint64(0))
			s.Retire([]int{0}, 3, 6)
			for _, s := range test.steps {
				p.event(event[s.op](s.fn, s.depth, s.time), 0)
			}
			p.finish()
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
}

// TestRetiredAgain: f was disarmed from 3 to 6, and, once = is read, from 9 to 12. What was open the first time stays
// untold in the second, and while the stream is behind the first time counts for what comes after it.
func TestRetiredAgain(t *testing.T) {
	for _, test := range []struct{ name, play, want string }{
		{"another call returns meanwhile", "e1 = r10", "abandoned"},
		{"another call returns, read late", "e1 = r8", "abandoned"},
		{"begun and over between", "e7 = r8", "return"},
		{"over meanwhile", "e7 = r10", "return"},
		{"over before all, read late", "= e1 r2", "return"},
		{"another call returns after all", "e7 = r13", "abandoned"},
		{"unwound between, read late", "= e7 E8", "unwound open"},
		{"gone from the first time on, read late", "= e1 E8", "abandoned open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			p := pairerTo(testPlan(), returns(func(c *Call) { got = append(got, c.Outcome.String()) }))
			s := &Stream{pairer: p}
			s.Retire([]int{0}, 3, 6)
			for _, word := range strings.Fields(test.play) {
				time, _ := strconv.ParseUint(word[1:], 10, 64)
				switch word[0] {
				case '=':
					s.Retire([]int{0}, 9, ^uint64(0))
					s.Retire([]int{0}, 9, 12)
					continue
				case 'e':
					p.event(entryEvent(0, 8, time), 0)
				case 'E':
					p.event(entryEvent(1, 8, time), 0)
				case 'r':
					p.event(returnEvent(0, 8, time), 0)
				}
				s.latest = time
			}
			p.finish()
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
	s := &Stream{pairer: newPairer(testPlan())}
	for s.latest = range uint64(1000) {
		s.Retire([]int{0}, s.latest, s.latest+1)
	}
	if n := len(s.pairer.retired[0]); n > 5 {
		t.Errorf("%d times are remembered", n)
	}
}

// entryEvent and returnEvent are events of testPlan on one goroutine.
func entryEvent(fn int, depth, time uint64) *parse.Event {
	return &parse.Event{Format: 0, PID: 1, TID: 1, Time: time, Addr: 0x1000 + uint64(fn), Args: []uint64{0x2000 - depth, 0xc000, 0x2000, 0x1000, 1}}
}

func returnEvent(fn int, depth, time uint64) *parse.Event {
	return &parse.Event{Format: 2, PID: 1, TID: 1, Time: time, Addr: 0x3000 + uint64(fn), Args: []uint64{0x2000 - depth, 0xc000, 0x2000, 0x1000}}
}

// TestUncounted: what a Counter counts while it is placed, and while it is removed, is no call.
func TestUncounted(t *testing.T) {
	plan := testPlan()
	plan.Events[0].Sites[0].Kind = uprobe.Counter
	s := &Stream{pairer: pairerTo(plan, returns(func(*Call) { t.Error("a call") }))}
	s.Count([]int{0}, 3)
	for time := range uint64(12) {
		switch time {
		case 6:
			s.Uncount([]int{0}, 6, ^uint64(0))
		case 9:
			s.Count([]int{0}, 9)
		}
		s.pairer.event(entryEvent(0, 8, time), 0)
	}
	if got := s.pairer.account.funcs[0].all; got != (entries{6, 6}) || s.Begun(0) != 6 { // 3, 4, 5, and 9, 10, 11
		t.Errorf("%+v", got)
	}
}
