package pairing

import (
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// TestHits: a call has the hits from its begin to its end, by what they cost: those of calls
// that a panic ends too, and of no other goroutine.
func TestHits(t *testing.T) {
	plan := testPlan()
	const f, g, h = 0, 1, 2
	got := make(map[int]Hits) // by function
	p := newPairer(plan, returns(func(c *Call) { got[c.Func] = c.Hits }))
	hit := func(kind uprobe.Kind, fn int, goid, depth uint64) {
		const hi = 0x10000
		ev := parse.Event{PID: 1, TID: 1}
		for ev.Format = range plan.Events {
			if plan.Events[ev.Format].Sites[0].Kind == kind {
				break
			}
		}
		ev.Addr = uint64(ev.Format+1)*0x1000 + uint64(fn)
		ev.Args = []uint64{hi - depth, goid, hi, hi - 0x1000, goid}
		p.event(&ev, 0)
	}
	hit(uprobe.Entry, f, 1, 16)
	for range 3 {
		hit(uprobe.Entry, g, 1, 32)
		hit(uprobe.Entry, h, 2, 16) // meanwhile
		hit(uprobe.Return, g, 1, 32)
		hit(uprobe.TailJump, h, 2, 16)
	}
	hit(uprobe.Entry, g, 1, 32) // f recovers its panic
	hit(uprobe.Return, f, 1, 16)
	for _, c := range []struct {
		name string
		fn   int
		want Hits
	}{
		{"its own begin, three calls, and one that has no end", f, Hits{Emulated: 5, Stepped: 3}},
		{"its own begin alone", h, Hits{Emulated: 1}},
		{"one that was unwound", g, Hits{Emulated: 1}},
	} {
		if got[c.fn] != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got[c.fn], c.want)
		}
	}
}
