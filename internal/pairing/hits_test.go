package pairing

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// TestHits: a call has the hits from its begin to its end, by what they cost: those of calls
// that a panic ends too, and of no other goroutine.
func TestHits(t *testing.T) {
	plan := testPlan()
	const f, g, h = 0, 1, 2
	got := make(map[int]Hits) // by function
	p := pairerTo(plan, returns(func(c *Call) { got[c.Func] = c.Hits }))
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

// TestSharedInstruction: where a function begins and ends with one instruction, two events are one trap.
func TestSharedInstruction(t *testing.T) {
	plan := testPlan()
	const f, g = 0, 1
	kinds := map[uprobe.Kind]int{}
	for i := range plan.Events {
		if k := plan.Events[i].Sites[0].Kind; k == uprobe.Entry || k == uprobe.Return {
			kinds[k] = i
		}
	}
	entry, ret := &plan.Events[kinds[uprobe.Entry]].Sites[g], &plan.Events[kinds[uprobe.Return]].Sites[g]
	ret.Addr, entry.Stepped = entry.Addr, true
	uprobe.Share(plan.Events)
	if entry.Shared || !ret.Shared {
		t.Fatalf("entry %+v, return %+v", entry, ret)
	}
	var got Hits // of f
	s := &Stream{pairer: pairerTo(plan, returns(func(c *Call) {
		if c.Func == f {
			got = c.Hits
		}
	})), reader: &parse.Reader{}}
	hit := func(kind uprobe.Kind, fn int, depth uint64) {
		const hi = 0x10000
		ev := parse.Event{Format: kinds[kind], PID: 1, TID: 1, Args: []uint64{hi - depth, 1, hi, hi - 0x1000, 1}}
		ev.Addr = plan.Events[ev.Format].Sites[fn].Addr
		s.pairer.event(&ev, 0)
	}
	hit(uprobe.Entry, f, 16)
	for range 10 {
		hit(uprobe.Entry, g, 32)
		hit(uprobe.Return, g, 32)
	}
	hit(uprobe.Return, f, 16)
	if want := (Hits{Emulated: 1, Stepped: 10, Words: 10 * sharedWords}); got != want {
		t.Errorf("hits within: %+v, want %+v", got, want)
	}
	at := make([][]uint64, len(plan.Events))
	for i := range at {
		at[i] = make([]uint64, len(plan.Events[i].Sites))
	}
	at[kinds[uprobe.Entry]][g], at[kinds[uprobe.Return]][g] = 10, 10
	counts := s.Counts(Counters{At: at, Own: true, Behind: true})
	if want := (Hits{Stepped: 10, Words: 10 * sharedWords}); counts.Funcs[g].Hits != want {
		t.Errorf("hits counted: %+v, want %+v", counts.Funcs[g].Hits, want)
	}
}

// TestFaultsOfHits: faults are of the call that is open, of the function whose hits they are, and, for hits
// that were not delivered, as many as of the others.
func TestFaultsOfHits(t *testing.T) {
	plan := testPlan()
	const f, g = 0, 1
	entry := slices.IndexFunc(plan.Events, func(e uprobe.Event) bool { return e.Sites[0].Kind == uprobe.Entry })
	ev := &plan.Events[entry]
	ev.Faults, ev.Fields.Values, ev.Words, ev.Counts = true, len(ev.Args), 3, make([]int, len(ev.Args), len(ev.Args)+2)
	ev.Counts = append(ev.Counts, 0, 2)
	ev.Args = append(ev.Args, tracefs.Arg{Fetch: "%ax", Type: "s64"}, tracefs.Arg{Fetch: "+0(%ax)", Type: "x64[2]"})
	got := make(map[int]Hits) // by function
	s := &Stream{pairer: pairerTo(plan, returns(func(c *Call) { got[c.Func] = c.Hits })), reader: &parse.Reader{}}
	hit := func(event, fn int, depth, pointer uint64) {
		const hi = 0x10000
		args := []uint64{hi - depth, 1, hi, hi - 0x1000, 1}[:ev.Fields.Values]
		s.pairer.event(&parse.Event{Format: event, PID: 1, TID: 1, Addr: uint64(event+1)*0x1000 + uint64(fn), Args: append(args, pointer, 0, 0)}, 0)
	}
	ret := slices.IndexFunc(plan.Events, func(e uprobe.Event) bool { return e.Sites[0].Kind == uprobe.Return })
	hit(entry, f, 16, 0xc000000000)
	for i := range 4 {
		hit(entry, g, 32, uint64(i%2)<<32)
		hit(ret, g, 32, 0)
	}
	hit(ret, f, 16, 0)
	if want := (Hits{Emulated: 5, Stepped: 4, Words: 15, Faults: 4}); got[f] != want {
		t.Errorf("the call: %+v, want %+v", got[f], want)
	}
	if want := (Hits{Emulated: 1, Words: 3}); got[g] != want {
		t.Errorf("one within: %+v, want %+v", got[g], want)
	}
	faults := s.Faults()
	if faults.All() != 4 || faults.PerCall(f) != 0 || faults.PerCall(g) != 1 {
		t.Errorf("%d faults, of calls %v and %v", faults.All(), faults.PerCall(f), faults.PerCall(g))
	}
	at := make([][]uint64, len(plan.Events))
	for i := range at {
		at[i] = make([]uint64, len(plan.Events[i].Sites))
		for k := range at[i] {
			if at[i][k] = s.pairer.account.delivered[i][k]; i == entry {
				at[i][k] *= 10
			}
		}
	}
	if c := s.Counts(Counters{At: at, Own: true}); c.Ours.Faults != 40 || c.Others.Faults != 0 || c.Funcs[g].Hits.Faults != 40 {
		t.Errorf("%d faults by the kernel's count, %d of others, %d of the function", c.Ours.Faults, c.Others.Faults, c.Funcs[g].Hits.Faults)
	}
	if c := s.Counts(Counters{At: at}); c.Ours.Faults != 4 || c.Others.Faults != 36 {
		t.Errorf("%d faults of wanted processes, %d of others", c.Ours.Faults, c.Others.Faults)
	}
}
