package pairing

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// TestRetired checks outcomes when f is disarmed from 3 to 6 and, from the word = on, also from 9 to 12. A call that
// was open at 3 stays abandoned at 9, and the first period also counts for events that are read after the second one
// was added. eTIME is an entry of f, rTIME its return; E and R are those of g, which is at the same depth.
func TestRetired(t *testing.T) {
	for _, test := range []struct{ name, play, want string }{
		{"over before", "e1 r2", "return"},
		{"over in time", "e1 r5", "return"},
		{"begun late", "e4 r5", ""},
		{"a return of another call", "e1 r9", "abandoned"},
		{"gone without a return", "e1 E9", "abandoned open"},
		{"unwound before", "e1 E2", "unwound open"},
		{"never seen again", "e1", "abandoned"},
		{"timed again", "e7 r9", "return"},
		{"unwound after that", "e7 E9", "unwound open"},
		{"others are not retired", "E1 R9", "return"},
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
			p := streamTo(testPlan(), returns(func(c *Call) { got = append(got, c.Outcome.String()) }))
			retire := func(from, until uint64) {
				p.Disarm([]int{0}, false, from)
				p.Arm([]int{0}, false, until)
			}
			retire(3, 6)
			for word := range strings.FieldsSeq(test.play) {
				if word == "=" {
					retire(9, 12)
					continue
				}
				kind := map[bool]uprobe.Kind{true: uprobe.Entry, false: uprobe.Return}[strings.ToLower(word)[0] == 'e']
				p.latest, _ = strconv.ParseUint(word[1:], 10, 64)
				hit(p, kind, strings.IndexByte("eErR", word[0])%2, 1, 8, p.latest)
			}
			p.leaveOpen(func(int) bool { return true })
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
	s := newStream(testPlan())
	for s.latest = range uint64(1000) {
		s.Disarm([]int{0}, false, s.latest)
		s.Arm([]int{0}, false, s.latest+1)
	}
	if n := len(s.retired[0]); n > 5 {
		t.Errorf("%d times are remembered", n)
	}
}

// TestUncounted checks that hits of a Counter are not calls while it is placed or removed.
func TestUncounted(t *testing.T) {
	plan := testPlan()
	plan.Events[0].Sites[0].Kind = uprobe.Counter
	s := streamTo(plan, returns(func(*Call) { t.Error("a call") }))
	s.Arm([]int{0}, true, 3)
	for time := range uint64(12) {
		switch time {
		case 6:
			s.Disarm([]int{0}, true, 6)
		case 9:
			s.Arm([]int{0}, true, 9)
		}
		hit(s, uprobe.Counter, 0, 1, 8, time)
	}
	if got := s.account.funcs[0]; got.noCalls != 6 || s.Begun(0) != 6 { // 3, 4, 5, and 9, 10, 11
		t.Errorf("%+v", got)
	}
}
