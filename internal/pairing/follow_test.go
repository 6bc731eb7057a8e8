package pairing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// followed returns text for the emitted items: FUNC#ID<PARENT/ROOT for a call, goID<FROM for a goroutine.
type followed struct {
	plan *uprobe.Plan
	told []string
}

func (s *followed) take(it *Item) bool {
	switch g, c := it.Goroutine, it.Call; it.Kind {
	case Go:
		what := map[bool]string{false: "go", true: "end"}[g.Ended]
		s.told = append(s.told, fmt.Sprintf("%s%d<%d", what, g.Goid, g.From))
	case Began:
		inside := map[bool]string{true: "*"}[c.Inside]
		s.told = append(s.told, fmt.Sprintf("%s#%d<%d/%d%s", s.plan.Funcs[c.Func].Name, c.ID, c.Parent, c.Root, inside))
	}
	return true
}

// TestFollow plays events. GOID+FUNC begins a call on a goroutine, GOID-FUNC returns, GOID>OTHER starts a goroutine,
// GOID^OTHER starts one of the runtime, GOID. ends one, ! executes the program. The g of a goroutine is the last digit
// of its ID.
func TestFollow(t *testing.T) {
	for _, c := range []struct{ name, play, want string }{
		{"started in a call", "1+f 1>2 2+g 2-g 2. 1-f", "f#1<0/1 go2<1 g#2<1/1 end2<1"},
		{"of no call", "1>2 2+g 2-g 2. 1+f 1-f", "g#1<0/1 f#2<0/2"},
		{"the innermost call", "1+f 1+g 1>2 1-g 1>3 2+h 3+h", "f#1<0/1 g#2<1/1 go2<2 go3<1 h#3<2/1 h#4<1/1"},
		{"by way of others", "1+f 1>2 2>3 3+h 3>4 4+h", "f#1<0/1 go2<1 go3<1 h#2<1/1 go4<2 h#3<2/1"},
		{"each of its outermost calls", "1+f 1>2 2+g 2+h 2-h 2-g 2+h", "f#1<0/1 go2<1 g#2<1/1 h#3<2/1 h#4<1/1"},
		{"outlives the call", "1+f 1>2 1-f 1+g 2+h 2.", "f#1<0/1 go2<1 g#2<0/2 h#3<1/1 end2<1"},
		{"later calls of the parent", "1+f 1-f 1+f 1>2 2+g", "f#1<0/1 f#2<0/2 go2<2 g#3<2/2"},
		{"its g is used again", "1+f 1>2 2. 1>12 12+h", "f#1<0/1 go2<1 end2<1 go12<1 h#2<1/1"},
		{"its end was lost", "1+f 1>2 1-f 1>12 12+h 12-h", "f#1<0/1 go2<1 end2<1 h#2<0/2"},
		{"its creation was lost", "1+f 1>2 1-f 12+h", "f#1<0/1 go2<1 h#2<0/2"},
		{"the end of its creator was lost", "1+f 11>2 2+h", "f#1<0/1 h#2<0/2"},
		{"by nobody", "1+f 0>2 2+h", "f#1<0/1 h#2<0/2"},
		{"the runtime's own", "1+f 1^2 2>3 3+h", "f#1<0/1 h#2<0/2"},
		{"another program", "1+f 1>2 2>3 3+g ! 1+f 2+g", "f#1<0/1 go2<1 go3<1 g#2<1/1 end2<1 end3<1 f#3<0/3 g#4<0/4"},
		{"inside", "1+loops 1>2 2>3 3+f 3>4 4+g 5+h", "loops#1<0/1 go2<1 go3<1 f#2<1/1* go4<2 g#3<2/1* h#4<0/4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := testPlan()
			plan.Follow = true
			fields := noFields
			fields.G, fields.Goid, fields.Creator, fields.CreatorGoid, fields.Start = 0, 1, 2, 3, 4
			plan.Runtime = [][2]uint64{{0x500, 0x600}, {0x700, 0x800}}
			plan.Events[4].Sites = append(plan.Events[4].Sites, uprobe.Site{Kind: uprobe.GoroutineEnd, Addr: 0x5001, Func: uprobe.ProgramStart})
			plan.Events = append(plan.Events, uprobe.Event{Fields: fields, Sites: []uprobe.Site{{Kind: uprobe.Creation, Addr: 0x9000, Func: -1}}})
			got := &followed{plan: plan}
			p := streamTo(plan, got.take)
			p.opt, plan.Funcs[4].Role.Inside = Options{Entries: true}, true
			depths := make(map[uint64]uint64)
			for i, word := range strings.Fields(c.play) {
				at := strings.IndexAny(word, "+->.^!")
				var goid, other uint64
				fmt.Sscan(word[:at], &goid)
				rest := word[at+1:]
				g := goid % 10
				ev := parse.Event{Time: uint64(i + 1), PID: 1, TID: int(g)}
				fn := -1
				for k, f := range testFuncs {
					if f.name == rest {
						fn = k
					}
				}
				switch word[at] {
				case '+':
					depths[goid] += 0x10
					ev.Format, ev.Addr = 0, 0x1000+uint64(fn)
					ev.Args = []uint64{0x100000*(g+1) - depths[goid], g, 0x100000 * (g + 1), 0x100000 * g, goid}
				case '-':
					ev.Format, ev.Addr = 2, 0x3000+uint64(fn)
					ev.Args = []uint64{0x100000*(g+1) - depths[goid], g, 0x100000 * (g + 1), 0x100000 * g}
					depths[goid] -= 0x10
				case '.':
					ev.Format, ev.Addr, ev.Args = 4, 0x5000, []uint64{g}
				case '!':
					ev.Format, ev.Addr, ev.Args = 4, 0x5001, []uint64{g}
				case '>', '^':
					fmt.Sscan(rest, &other)
					start := map[byte]uint64{'>': 0x600, '^': 0x700}[word[at]]
					ev.Format, ev.Addr, ev.Args = len(plan.Events)-1, 0x9000, []uint64{other % 10, other, g, goid, start}
				}
				p.event(&ev, 0)
			}
			if got := strings.Join(got.told, " "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}
