package pairing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// The functions of testPlan, by name.
var testFuncs = []struct {
	name     string
	abi      offsets.ABI
	restarts bool
}{
	{"f", offsets.ABIInternal, false},
	{"g", offsets.ABIInternal, false},
	{"h", offsets.ABIInternal, false},
	{"asm", offsets.ABI0, false},
	{"loops", offsets.ABIInternal, true},
	{"nosplit", offsets.ABI0, false}, // before Go 1.17: no register holds g
}

// testPlan returns a plan in which function i has its entry at 0x1000+i, its stack check at 0x2000+i, a return at
// 0x3000+i and a tail jump at 0x4000+i. The runtime probes are at 0x5000 and 0x6000.
func testPlan() *uprobe.Plan {
	p := &uprobe.Plan{Processor: amd64.Processor}
	for _, f := range testFuncs {
		p.Funcs = append(p.Funcs, uprobe.Probe{
			Func: &offsets.Func{Name: f.name, ABI: f.abi}, Restarts: f.restarts,
		})
	}
	fields := func(names ...string) uprobe.Fields {
		return uprobe.Fields{
			SP: slices.Index(names, "sp"), G: slices.Index(names, "g"), Hi: slices.Index(names, "hi"),
			Lo: slices.Index(names, "lo"), Goid: slices.Index(names, "id"), Flags: slices.Index(names, "fl"), Values: -1, Stack: -1,
		}
	}
	for i, k := range []uprobe.Kind{uprobe.Entry, uprobe.EntryJump, uprobe.Return, uprobe.TailJump, uprobe.GoroutineEnd, uprobe.Recovery} {
		args := [][]string{
			{"sp", "g", "hi", "lo", "id"}, {"sp", "g", "hi", "lo", "id", "fl"}, {"sp", "g", "hi", "lo"}, {"sp", "g", "hi", "lo"}, {"g"}, {"sp", "g", "hi"},
		}[i]
		ev := uprobe.Event{Fields: fields(args...)}
		ev.Name = fmt.Sprintf("event%d_0123456789abcdef", i)
		for _, a := range args {
			ev.Args = append(ev.Args, tracefs.Arg{Name: a})
		}
		if k >= uprobe.GoroutineEnd {
			ev.Sites = append(ev.Sites, uprobe.Site{Kind: k, Addr: uint64(i+1) * 0x1000, Func: -1})
		} else {
			for fn := range testFuncs {
				ev.Sites = append(ev.Sites, uprobe.Site{Kind: k, Addr: uint64(i+1)*0x1000 + uint64(fn), Func: fn, Cond: p.Processor.Machine().Passed, Stepped: k == uprobe.Return})
			}
		}
		p.Events = append(p.Events, ev)
	}
	return p
}

// noFields are the fields of an event that fetches nothing.
var noFields = uprobe.Fields{SP: -1, G: -1, Goid: -1, Hi: -1, Lo: -1, Flags: -1, Old: -1, New: -1, Stack: -1, Values: -1}

// oldPlan returns testPlan for Go before 1.17: returns fetch only SP, and so does the entry of function nosplit, in its
// own event.
func oldPlan() *uprobe.Plan {
	p := testPlan()
	p.ByStack = true
	bare := noFields
	bare.SP = 0
	p.Events[2].Fields, p.Events[3].Fields = bare, bare
	move := uprobe.Event{Fields: uprobe.Fields{SP: -1, G: 0, Lo: 1, Hi: 2, Goid: -1, Flags: -1, Values: -1}}
	move.Sites = append(move.Sites, uprobe.Site{Kind: uprobe.StackMove, Addr: 0x7000, Func: -1})
	start := uprobe.Event{Fields: bare}
	start.Args = append(start.Args, tracefs.Arg{Name: "sp"})
	start.Sites = append(start.Sites, uprobe.Site{Addr: 0x8000, Func: len(testFuncs) - 1})
	p.Events = append(p.Events, move, start)
	return p
}

// fetchTimes makes entries without a stack check fetch one more word, in which tests put the time.
func fetchTimes(plan *uprobe.Plan) {
	for i := range plan.Events {
		if ev := &plan.Events[i]; ev.Sites[0].Kind == uprobe.Entry {
			ev.Fields.Values = len(ev.Args)
			ev.Args = append(ev.Args, tracefs.Arg{Name: "v"})
		}
	}
}

// script runs events written one a word, "OP:FUNC@DEPTH" with options, through a
// stream and returns the calls as text. Time is the word's number, and what entries e and n
// fetch; a call that has anything else says so. OP is
//
//	e entry, j stack check passed, J stack check failed, r return, t tail jump,
//	x goroutine end (no function), p recovery into depth, m the stack has moved,
//	n entry of nosplit
//
// and options, which hold for the words after it, too: p=PID g=G goid=N tid=N, and
// move=N, by which the stack is elsewhere.
func script(plan *uprobe.Plan, text string) (calls []string, p *Stream) {
	fetchTimes(plan)
	fetched := make(map[uint64][]uint64) // by time
	p = streamTo(plan, returns(func(c *Call) {
		s := fmt.Sprintf("%s[%d-%d]%s", plan.Funcs[c.Func].Name, c.Start, c.End, c.Outcome)
		if c.Depth > 0 {
			s += fmt.Sprintf("/%d", c.Depth)
		}
		if !slices.Equal(c.Args, fetched[c.Start]) {
			s += fmt.Sprintf(" with %d", c.Args)
		}
		calls = append(calls, s)
	}))
	pid, tid, g, goid, move := 1, 1, uint64(0xc000), uint64(1), uint64(0)
	off := false
	time := uint64(0)
	for w := range strings.FieldsSeq(text) {
		var n uint64
		if name, value, ok := strings.Cut(w, "="); ok {
			fmt.Sscan(value, &n)
			switch name {
			case "p":
				pid = int(n)
			case "g":
				g = n
			case "goid":
				goid = n
			case "tid":
				tid = int(n)
			case "move":
				move = n
			case "off": // SP is not on g's stack
				off = n != 0
			}
			continue
		}
		time++
		op, rest, _ := strings.Cut(w, ":")
		name, depthText, _ := strings.Cut(rest, "@")
		fmt.Sscan(depthText, &n)
		fn := 0
		for i, f := range testFuncs {
			if f.name == name {
				fn = i
			}
		}
		hi := 0x100000 + move
		lo, sp := hi-0x8000, hi-n
		if off {
			hi, lo = 0x900000, 0x800000
		}
		kind := strings.Index("ejrtxpmn", strings.ToLower(op))
		ev := parse.Event{Format: kind, Time: time, PID: pid, TID: tid, Addr: uint64(kind+1)*0x1000 + uint64(fn)}
		switch op {
		case "e":
			ev.Args = []uint64{sp, g, hi, lo, goid, time}
		case "j":
			ev.Args = []uint64{sp, g, hi, lo, goid, 0x202}
		case "J":
			ev.Args = []uint64{sp, g, hi, lo, goid, 0x203}
		case "r", "t":
			ev.Args = []uint64{sp, g, hi, lo}
		case "m":
			ev.Addr = 0x7000
			ev.Args = []uint64{g, lo, hi}
		case "n":
			ev.Addr = 0x8000
			ev.Args = []uint64{sp, time}
		case "x":
			ev.Addr = 0x5000
			ev.Args = []uint64{g}
		case "p":
			ev.Addr = 0x6000
			ev.Args = []uint64{sp, g, hi}
		}
		if op == "e" || op == "n" {
			fetched[time] = []uint64{time}
		}
		p.event(&ev, 0)
	}
	p.leaveOpen(func(int) bool { return true })
	return calls, p
}

// played lists scripts and the resulting calls.
type played struct{ name, events, calls string }

func playAll(t *testing.T, plan func() *uprobe.Plan, all []played) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			calls, _ := script(plan(), c.events)
			if got := strings.Join(calls, " "); got != c.calls {
				t.Errorf("events %s\ngot  %s\nwant %s", c.events, got, c.calls)
			}
		})
	}
}

func TestPairing(t *testing.T) {
	playAll(t, testPlan, []played{
		{"one call", "e:f@100 r:f@100", "f[1-2]return"},
		{"nested calls", "e:f@100 e:g@200 r:g@200 r:f@100", "g[2-3]return/1 f[1-4]return"},
		{"recursion", "e:f@100 e:f@200 e:f@300 r:f@300 r:f@200 r:f@100", "f[3-4]return/2 f[2-5]return/1 f[1-6]return"},
		{"stack grows inside a call", "e:f@100 e:g@200 move=65536 r:g@200 r:f@100", "g[2-3]return/1 f[1-4]return"},
		{"failed stack checks are no calls", "J:f@100 move=65536 j:f@100 r:f@100", "f[2-3]return"},
		{"goroutine migrates", "tid=1 e:f@100 tid=2 r:f@100", "f[1-2]return"},
		{"goroutines interleave", "g=1 goid=1 e:f@100 g=2 goid=2 e:f@100 g=1 r:f@100 g=2 r:f@100", "f[1-3]return f[2-4]return"},
		{"processes share addresses", "p=1 e:f@100 p=2 e:f@100 p=1 r:f@100 p=2 r:f@100", "f[1-3]return f[2-4]return"},
		{"panic recovered by the caller's caller", "e:f@100 e:g@200 e:h@300 r:f@100", "h[3-4]unwound/2 g[2-4]unwound/1 f[1-4]return"},
		{"a call at the same depth after a panic", "e:f@100 e:g@200 e:h@200 r:h@200 r:f@100", "g[2-3]unwound/1 h[3-4]return/1 f[1-5]return"},
		{"recovery seen by itself", "e:g@200 e:h@300 p:f@150 ", "h[2-3]unwound/1 g[1-3]unwound"},
		{"recovery leaves who recovers", "e:f@100 e:g@200 p:f@150 r:f@100", "g[2-3]unwound/1 f[1-4]return"},
		{"recovery at the very depth of the recovering frame", "e:f@100 p:f@100 r:f@100", "f[1-3]return"},
		{"deferred call during a panic", "e:f@100 e:g@200 e:h@400 r:h@400 r:f@100", "h[3-4]return/2 g[2-5]unwound/1 f[1-5]return"},
		{"Goexit", "e:f@100 e:g@200 x:", "g[2-3]unwound/1 f[1-3]unwound"},
		{"Goexit with a deferred call after", "e:f@100 e:g@200 e:h@300 r:h@300 x:", "h[3-4]return/2 g[2-5]unwound/1 f[1-5]unwound"},
		{"g is used again", "goid=1 e:f@100 goid=2 e:f@300 r:f@300", "f[1-2]unwound f[2-3]return"},
		{"calls on an ended goroutine are unwound, not open", "x: e:f@100", "f[2-0]open"},
		{"end of a goroutine with a call that never comes back", "e:f@100 x: e:g@200", "f[1-2]unwound g[3-0]unwound"},
		{"open at the end", "e:f@100 e:g@200", "f[1-0]open g[2-0]open/1"},
		{"tracing starts inside a call", "r:f@100 e:g@300 r:g@300", "g[2-3]return"},
		{"a return of another function at this depth", "e:f@100 r:g@100 r:f@100", "f[1-3]return"},
		{"tail jump", "e:f@100 t:f@100 e:g@100 r:g@100", "f[1-2]return g[3-4]return"},
		{"tail jump not seen", "e:f@100 e:g@100 r:g@100", "f[1-2]unwound g[2-3]return"},
		{"some calls fetch words, others don't", "e:f@100 e:g@200 r:g@200 j:g@200 r:g@200 r:f@100 j:f@100 e:g@200 r:g@200 r:f@100", "g[2-3]return/1 g[4-5]return/1 f[1-6]return g[8-9]return/1 f[7-10]return"},
		{"return lost", "e:f@100 e:f@100 r:f@100", "f[1-2]unwound f[2-3]return"},
		{"entry lost", "e:f@100 r:g@200 r:f@100", "f[1-3]return"},
		{"function that loops to its start", "e:loops@100 e:loops@100 e:loops@100 r:loops@100", "loops[1-4]return"},
		{"recursion of one that loops", "e:loops@100 e:loops@200 r:loops@200 r:loops@100", "loops[2-3]return/1 loops[1-4]return"},
		{"signal handler on its own stack", "e:f@100 off=1 e:g@5000 r:g@5000 off=0 r:f@100", "g[2-3]return f[1-4]return"},
		{"threads outside of Go", "off=1 tid=1 e:f@100 tid=2 e:f@100 tid=1 r:f@100 tid=2 r:f@100", "f[1-3]return f[2-4]return"},
		{"assembly that uses R14 for itself", "e:f@50 e:asm@100 off=1 r:asm@100 off=0 r:f@50", "asm[2-3]return/1 f[1-4]return"},
	})
}

// TestPairingByStack checks pairing without a register that identifies the goroutine at a return.
func TestPairingByStack(t *testing.T) {
	playAll(t, oldPlan, []played{
		{"one call", "e:f@100 r:f@100", "f[1-2]return"},
		{"return on another thread", "tid=1 e:f@100 tid=2 r:f@100", "f[1-2]return"},
		{"stack grows inside a call", "e:f@100 e:g@200 move=65536 m: r:g@200 r:f@100", "g[2-4]return/1 f[1-5]return"},
		{"a move not seen, then an entry that tells", "e:f@100 move=65536 e:g@200 r:g@200 r:f@100", "g[2-3]return/1 f[1-4]return"},
		{"a move that nothing tells of", "e:f@100 move=65536 r:f@100", "f[1-0]open"},
		{"memory of an ended goroutine is used again", "g=1 goid=1 e:f@100 x: g=2 goid=2 e:f@100 r:f@100", "f[1-2]unwound f[3-4]return"},
		{"and without having seen it end", "g=1 goid=1 e:f@100 g=2 goid=2 e:g@100 r:g@100 g=1", "g[2-3]return f[1-0]open"},
		{"two processes", "p=1 e:f@100 p=2 e:f@100 p=1 r:f@100 p=2 r:f@100", "f[1-3]return f[2-4]return"},
		{"no stack check, stack known", "e:f@100 n:nosplit@200 r:nosplit@200 r:f@100", "nosplit[2-3]return/1 f[1-4]return"},
		{"no stack check, stack unknown", "n:nosplit@100 r:nosplit@100", "nosplit[1-2]return"},
		{"no stack check, stack learnt inside", "n:nosplit@100 e:f@200 r:f@200 r:nosplit@100", "f[2-3]return/1 nosplit[1-4]return"},
		{"stack learnt inside, then one on another", "n:nosplit@100 e:f@200 move=1000000 n:nosplit@100 r:nosplit@100 move=0 r:f@200 r:nosplit@100", "nosplit[3-4]return f[2-5]return/1 nosplit[1-6]return"},
		{"panic", "e:f@100 e:g@200 e:h@300 p:f@150 r:f@100", "h[3-4]unwound/2 g[2-4]unwound/1 f[1-5]return"},
	})
}

// TestPairingBySP checks pairing by SP alone, for gccgo: its goroutines change threads, and the pieces of their stacks
// are in any order.
func TestPairingBySP(t *testing.T) {
	plan := func() *uprobe.Plan {
		p := testPlan()
		p.BySP = true
		return p
	}
	playAll(t, plan, []played{
		{"one call", "e:f@100 r:f@100", "f[1-2]return"},
		{"return on another thread", "tid=1 e:f@100 tid=2 r:f@100", "f[1-2]return"},
		{"goroutines interleave on a thread", "e:f@100 move=65536 e:f@100 move=0 r:f@100 move=65536 r:f@100", "f[1-3]return f[2-4]return"},
		{"a return on a piece of stack of its own", "e:f@100 move=65536 r:f@300 move=0 r:f@100", "f[1-3]return"},
		{"calls on a piece below or above", "e:f@100 move=65536 e:g@300 r:g@300 move=0 r:f@100", "g[2-3]return f[1-4]return"},
		{"unwound, and its place used again", "e:f@100 e:g@200 e:g@200 r:g@200 r:f@100", "g[2-3]unwound g[3-4]return f[1-5]return"},
	})
}

// TestConditionalTailJump checks that a je to another function ends a call only if ZF is set.
func TestConditionalTailJump(t *testing.T) {
	plan := testPlan()
	ev := uprobe.Event{Fields: plan.Events[1].Fields}
	ev.Sites = append(ev.Sites, uprobe.Site{Kind: uprobe.CondTail, Addr: 0x9000, Func: 2, Cond: 4})
	plan.Events = append(plan.Events, ev)
	var calls []string
	p := streamTo(plan, told(&calls, spanned))
	at := func(kind int, addr, time, flags uint64) {
		p.event(&parse.Event{Format: kind, Addr: addr, Time: time, Args: []uint64{0x1000, 1, 0x2000, 0, 1, flags}}, 0)
	}
	at(0, 0x1002, 1, 0)
	at(6, 0x9000, 2, 0x202) // not taken
	at(6, 0x9000, 3, 0x242) // taken
	p.leaveOpen(func(int) bool { return true })
	if got := strings.Join(calls, "; "); got != "h 1-3 return" {
		t.Errorf("calls %q, want one from 1 to 3", got)
	}
}

// TestEntriesAlone checks that in mode Entries calls are emitted when they begin, with the fetched words, and do not
// stay open.
func TestEntriesAlone(t *testing.T) {
	plan := testPlan()
	plan.Mode = uprobe.Entries
	fetchTimes(plan)
	var calls []string
	p := streamTo(plan, func(it *Item) bool {
		if c := it.Call; it.Kind == Began {
			calls = append(calls, fmt.Sprint(c.Start, c.Depth, c.Args))
		} else {
			t.Errorf("call %+v has ended", c)
		}
		return true
	})
	p.opt.Entries = true
	for time := uint64(1); time <= 3; time++ {
		p.event(&parse.Event{Addr: 0x1000, Time: time, Args: []uint64{0x1000 - time, 1, 0x2000, 0, 1, time}}, 0)
	}
	p.leaveOpen(func(int) bool { return true })
	if got, want := strings.Join(calls, " "), "1 0 [1] 2 0 [2] 3 0 [3]"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
}

func TestAccounting(t *testing.T) {
	_, p := script(testPlan(), "J:f@100 j:f@100 r:f@100 r:f@100 e:loops@300 e:loops@300")
	a := &p.account
	if f := a.funcs[0]; f.Calls != 1 || f.noCalls != 1 {
		t.Errorf("f: %+v, want 1 call and 1 hit that is none", f)
	}
	if f := a.funcs[4]; f.Calls != 1 || f.noCalls != 1 {
		t.Errorf("loops: %+v, want 1 call and 1 hit that is none", f)
	}
	if n := a.delivered(); n != 6 {
		t.Errorf("%d events delivered, want 6", n)
	}
	p.event(&parse.Event{Addr: 0xdead}, 0)
	if a.unknown != 1 {
		t.Errorf("%d events at unknown addresses, want 1", a.unknown)
	}
}

// FuzzPairer checks, for any events, that every entry becomes exactly one call, that the calls of a stack are nested,
// and that nothing panics.
func FuzzPairer(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 0})
	f.Add([]byte("\x00\x10\x00\x20\x04\x00\x02\x10\x05\x18"))
	f.Fuzz(func(t *testing.T, data []byte) {
		plan := testPlan()
		fetchTimes(plan)
		calls := uint64(0)
		p := streamTo(plan, returns(func(c *Call) {
			calls++
			if len(c.Args) > 1 || len(c.Args) == 1 && c.Args[0] != c.Start {
				t.Errorf("call from %d has fetched %d", c.Start, c.Args)
			}
			if c.Depth < 0 || c.Outcome != Open && c.End < c.Start && c.End != 0 {
				t.Errorf("impossible call %+v", *c)
			}
		}))
		for i := 0; i+1 < len(data); i += 2 {
			kind, b := int(data[i]%6), uint64(data[i+1])
			ev := parse.Event{Format: kind, Time: uint64(i), PID: int(b >> 7), TID: int(b >> 6 & 1)}
			ev.Addr = uint64(kind+1) * 0x1000
			if kind < 4 {
				ev.Addr += b % uint64(len(testFuncs))
			}
			g, hi := b>>5&3, uint64(0x10000)
			lo, sp := hi-0x1000*(uint64(data[i])>>7), hi-b%16*8
			ev.Args = [][]uint64{{sp, g, hi, lo, b & 4, ev.Time}, {sp, g, hi, lo, b & 4, b}, {sp, g, hi, lo}, {sp, g, hi, lo}, {g}, {sp, g, hi}}[kind]
			p.event(&ev, 0)
		}
		p.leaveOpen(func(int) bool { return true })
		var began uint64
		for _, f := range p.account.funcs {
			began += f.Calls
		}
		if calls != began {
			t.Errorf("%d calls of %d entries", calls, began)
		}
	})
}
