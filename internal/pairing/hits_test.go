package pairing

import (
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// TestHits checks that the Hits of a call include all hits on its goroutine from its begin to its end, also of calls
// that a panic unwinds, but no hits on other goroutines.
func TestHits(t *testing.T) {
	plan := testPlan()
	const f, g, h = 0, 1, 2
	got := make(map[int]Hits) // by function
	p := streamTo(plan, returns(func(c *Call) { got[c.Func] = c.Hits }))
	hit(p, uprobe.Entry, f, 1, 16, 0)
	for range 3 {
		hit(p, uprobe.Entry, g, 1, 32, 0)
		hit(p, uprobe.Entry, h, 2, 16, 0) // on another goroutine
		hit(p, uprobe.Return, g, 1, 32, 0)
		hit(p, uprobe.TailJump, h, 2, 16, 0)
	}
	hit(p, uprobe.Entry, g, 1, 32, 0) // panics, and f recovers
	hit(p, uprobe.Return, f, 1, 16, 0)
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

// TestSharedInstruction checks that two events at the same instruction, where a function begins and ends, cost one
// trap.
func TestSharedInstruction(t *testing.T) {
	plan := testPlan()
	const f, g = 0, 1
	entry, ret := &plan.Events[0].Sites[g], &plan.Events[2].Sites[g]
	ret.Addr, entry.Stepped = entry.Addr, true
	uprobe.MarkShared(plan.Events)
	if entry.Shared || !ret.Shared {
		t.Fatalf("entry %+v, return %+v", entry, ret)
	}
	var got Hits // of f
	s := streamTo(plan, returns(func(c *Call) {
		if c.Func == f {
			got = c.Hits
		}
	}))
	hit(s, uprobe.Entry, f, 1, 16, 0)
	for range 10 {
		hit(s, uprobe.Entry, g, 1, 32, 0)
		hit(s, uprobe.Return, g, 1, 32, 0)
	}
	hit(s, uprobe.Return, f, 1, 16, 0)
	if want := (Hits{Emulated: 1, Stepped: 10, Words: 10 * sharedWords}); got != want {
		t.Errorf("hits within: %+v, want %+v", got, want)
	}
	at := make([][]uint64, len(plan.Events))
	for i := range at {
		at[i] = make([]uint64, len(plan.Events[i].Sites))
	}
	at[0][g], at[2][g] = 10, 10
	counts := s.Counts(Counters{At: at, Exclusive: true})
	if want := (Hits{Stepped: 10, Words: 10 * sharedWords}); counts.Funcs[g].Hits != want {
		t.Errorf("hits counted: %+v, want %+v", counts.Funcs[g].Hits, want)
	}
}

// TestFaultsOfHits checks that faults are counted for the open calls and for the function of the site, and that hits
// that were not delivered are estimated to have as many faults as delivered ones.
func TestFaultsOfHits(t *testing.T) {
	plan := testPlan()
	const f, g = 0, 1
	ev := &plan.Events[0]
	ev.Faults, ev.Fields.Values, ev.Words = true, len(ev.Args), 3
	ev.Args = append(ev.Args, tracefs.Arg{Fetch: "%ax", Type: "s64"}, tracefs.Arg{Fetch: "+0(%ax)", Type: "x64[2]"})
	got := make(map[int]Hits) // by function
	s := streamTo(plan, returns(func(c *Call) { got[c.Func] = c.Hits }))
	hit(s, uprobe.Entry, f, 1, 16, 0, 0xc000000000, 0, 0)
	for i := range 4 {
		hit(s, uprobe.Entry, g, 1, 32, 0, uint64(i%2)<<32, 0, 0)
		hit(s, uprobe.Return, g, 1, 32, 0)
	}
	hit(s, uprobe.Return, f, 1, 16, 0)
	if want := (Hits{Emulated: 5, Stepped: 4, Words: 15, Faults: 4}); got[f] != want {
		t.Errorf("the call: %+v, want %+v", got[f], want)
	}
	if want := (Hits{Emulated: 1, Words: 3}); got[g] != want {
		t.Errorf("one within: %+v, want %+v", got[g], want)
	}
	if s.Faults() != 4 || s.FaultsPerCall(f) != 0 || s.FaultsPerCall(g) != 1 {
		t.Errorf("%d faults, of calls %v and %v", s.Faults(), s.FaultsPerCall(f), s.FaultsPerCall(g))
	}
	at := make([][]uint64, 3) // no hits at other events
	for i := range at {
		at[i] = make([]uint64, len(plan.Events[i].Sites))
	}
	at[0][f], at[0][g], at[2][f], at[2][g] = 10, 40, 1, 4
	if c := s.Counts(Counters{At: at, Exclusive: true}); c.Ours.Faults != 40 || c.Others.Faults != 0 || c.Funcs[g].Hits.Faults != 40 {
		t.Errorf("%d faults by the kernel's count, %d of others, %d of the function", c.Ours.Faults, c.Others.Faults, c.Funcs[g].Hits.Faults)
	}
	if c := s.Counts(Counters{At: at}); c.Ours.Faults != 4 || c.Others.Faults != 36 {
		t.Errorf("%d faults of wanted processes, %d of others", c.Ours.Faults, c.Others.Faults)
	}
}
