package pairing

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// pairStream returns a stream of a pair that is called "way". Its begins are at 0x1000 and, behind a stack check, at 0x1001. Its
// ends are at 0x2000 and 0x2001. Each event fetches a value. The value 9 can't be read.
func pairStream(yield func(*Item) bool) *Stream {
	fields := noFields
	fields.SP, fields.Flags, fields.Values = 0, 1, 2
	plan := &uprobe.Plan{Processor: amd64.Processor, Options: uprobe.Options{To: &uprobe.Probe{}}}
	plan.Funcs = []uprobe.Probe{{Func: &offsets.Func{Name: "way"}}}
	for i, kinds := range [][]uprobe.Kind{{uprobe.Entry, uprobe.EntryJump}, {uprobe.Arrival, uprobe.ArrivalJump}} {
		ev := uprobe.Event{Event: tracefs.Event{Name: fmt.Sprint(i)}, Fields: fields}
		for k, kind := range kinds {
			ev.Sites = append(ev.Sites, uprobe.Site{Kind: kind, Addr: uint64(0x1000*(i+1) + k), Cond: amd64.Processor.Machine().Passed})
		}
		plan.Events = append(plan.Events, ev)
	}
	p := streamTo(plan, yield)
	p.opt.Key = func(c *Call, buf []byte) ([]byte, bool) {
		words := c.Args
		if c.Results != nil {
			words = c.Results
		}
		return fmt.Append(buf, words[0]), words[0] != 9
	}
	return p
}

// TestPairs runs events "fVALUE" (begin) and "tVALUE" (end), one a tick. F and T are hits at a stack check that fails. p2 changes
// the process, and x ends process 1.
func TestPairs(t *testing.T) {
	tests := []struct {
		name, events, calls string
		most                int
		keep                func(*Call) bool
		counts              PairCounts
		calls0, timed       uint64
	}{
		{name: "in order", events: "f1 t1 f2 t2", calls: "1-2 return, 3-4 return", calls0: 2, timed: 2},
		{name: "reordered", events: "f1 f2 f3 t3 t1 t2", calls: "3-4 return, 1-5 return, 2-6 return", calls0: 3, timed: 3},
		{name: "dropped", events: "f1 f2 t2", calls: "2-3 return, 1-0 open", calls0: 2, timed: 2},
		{name: "arrives twice", events: "f1 t1 t1 t1", calls: "1-2 return", counts: PairCounts{Twice: 2}, calls0: 1, timed: 1},
		{name: "begun before", events: "t1 t2 f3 t3", calls: "3-4 return", counts: PairCounts{Before: 2}, calls0: 1, timed: 1},
		{name: "begun before, arrives twice", events: "t1 t1", counts: PairCounts{Before: 1, Twice: 1}},
		{name: "begins again", events: "f1 f1 t1 t1", calls: "1-2 unwound, 2-3 return", counts: PairCounts{Twice: 1}, calls0: 2, timed: 2},
		{name: "a value is used again", events: "f1 t1 f1 t1", calls: "1-2 return, 3-4 return", calls0: 2, timed: 2},
		{name: "too many", most: 2, events: "f1 f2 f3 t1 t1 t2 t3", calls: "1-0 abandoned, 2-6 return, 3-7 return", counts: PairCounts{Late: 1, Twice: 1}, calls0: 3, timed: 2},
		{name: "unreadable", events: "f9 t9 f1 t1", calls: "3-4 return", counts: PairCounts{Unread: 2}, calls0: 1, timed: 1},
		{name: "stack checks", events: "F1 T1 j1 T1 J1", calls: "3-5 return", calls0: 1, timed: 1},
		{name: "processes", events: "f1 p2 f1 t1 p1 t1 p2 t1", calls: "2-3 return, 1-4 return", counts: PairCounts{Twice: 1}, calls0: 2, timed: 2},
		{name: "a process ends", events: "f1 f2 p2 f1 x t1 p1 t1", calls: "1-0 open, 2-0 open, 3-4 return", counts: PairCounts{Before: 1}, calls0: 3, timed: 3},
		{
			name: "kept", events: "f1 f2 f3 t2 t1 t1", calls: "2-4 return", counts: PairCounts{Twice: 1}, calls0: 1, timed: 1,
			keep: func(c *Call) bool { return c.Outcome == Returned && c.Args[0] == c.Results[0] && c.Args[0] == 2 },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			p := pairStream(returns(func(c *Call) { calls = append(calls, fmt.Sprintf("%d-%d %v", c.Start, c.End, c.Outcome)) }))
			if p.opt.Keep = tt.keep; tt.most > 0 {
				p.pairs.most = tt.most
			}
			pid, time := 1, uint64(0)
			for w := range strings.FieldsSeq(tt.events) {
				switch w[0] {
				case 'p':
					pid = int(w[1] - '0')
					continue
				case 'x':
					p.forget(map[int]bool{1: true})
					continue
				}
				time++
				// The jump of a stack check is taken if the check fails: CF or ZF is set.
				at := map[byte]struct{ addr, flags uint64 }{'f': {0x1000, 0}, 'j': {0x1001, 0}, 'F': {0x1001, 1}, 't': {0x2000, 0}, 'J': {0x2001, 0}, 'T': {0x2001, 1}}[w[0]]
				p.event(&parse.Event{Format: int(at.addr>>12) - 1, Addr: at.addr, PID: pid, TID: pid, Time: time, Args: []uint64{0x7000, at.flags, uint64(w[1] - '0')}}, 0)
			}
			p.leaveOpen(func(int) bool { return true })
			if got := strings.Join(calls, ", "); got != tt.calls {
				t.Errorf("calls %s, want %s", got, tt.calls)
			}
			c := p.Counts(Counters{})
			if f := c.Funcs[0]; !reflect.DeepEqual(*c.Pairs, tt.counts) || f.Calls != tt.calls0 || f.Timed != tt.timed {
				t.Errorf("%+v, %d calls, %d timed, want %+v, %d and %d", *c.Pairs, f.Calls, f.Timed, tt.counts, tt.calls0, tt.timed)
			}
		})
	}
}

// TestPairsMemory checks that calls that never arrive, and calls that have arrived, take no more memory than the comments say.
func TestPairsMemory(t *testing.T) {
	p := pairStream(discard)
	p.opt.Key = func(c *Call, buf []byte) ([]byte, bool) {
		return fmt.Append(buf, slices.Concat(c.Args, c.Results)[0]), true
	}
	hit := func(addr, value uint64) {
		p.event(&parse.Event{Format: int(addr>>12) - 1, Addr: addr, PID: 1, Time: value, Args: []uint64{0x7000, 0, value}}, 0)
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for i := range uint64(maxPairs + 1000) {
		hit(0x1000, i)
	}
	got := used() - before
	t.Logf("%d bytes for open calls", got)
	if len(p.pairs.open) != maxPairs || p.account.funcs[0].Abandoned != 1000 || got > 350<<20 {
		t.Errorf("%d open, %d abandoned, %d bytes", len(p.pairs.open), p.account.funcs[0].Abandoned, got)
	}
	p.leaveOpen(func(int) bool { return true })
	for i := range uint64(maxEnded + 1000) {
		hit(0x2000, 1<<40+i)
	}
	got = used() - before
	if hit(0x2000, 1<<40); len(p.pairs.ended) != maxEnded || !p.pairs.counts.Outdated || p.pairs.counts.Twice != 0 || got > 110<<20 {
		t.Errorf("%d ended, %+v, %d bytes", len(p.pairs.ended), p.pairs.counts, got)
	}
	runtime.KeepAlive(p)
}
