package pairing

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// TestForget checks that the open calls of a process that ends, or that executes a program again, end with Outcome
// Open, that no later event with the same PID changes them, and that other processes are not affected.
func TestForget(t *testing.T) {
	const again = 0x100000
	for name, end := range map[string]func(p *Stream){
		"ended": func(p *Stream) { p.forget(map[int]bool{1: true, 7: true}) },
		"restarted": func(p *Stream) {
			p.event(&parse.Event{Format: 4, PID: 1, TID: 1, Addr: again + 0x5fff, Args: []uint64{0}}, again)
		},
	} {
		biases := map[int]uint64{}
		plan := testPlan()
		plan.Sched = true
		plan.Events[4].Sites = append(plan.Events[4].Sites, uprobe.Site{Kind: uprobe.GoroutineEnd, Addr: 0x5fff, Func: uprobe.ProgramStart})
		var calls []string
		p := streamTo(plan, returns(func(c *Call) {
			calls = append(calls, fmt.Sprintf("%d %d %v at %#x", c.PID, c.Start, c.Outcome, c.Bias))
		}))
		hit := func(pid int, format int, time, sp uint64) {
			args := []uint64{sp, 0xc000, 0x10000, 0x8000, 1}
			p.event(&parse.Event{Format: format, PID: pid, TID: pid, Time: time, Addr: biases[pid] + uint64(format+1)*0x1000, Args: args[:len(plan.Events[format].Args)]}, biases[pid])
		}
		// At the first event, ProgramStart ends no calls.
		p.event(&parse.Event{Format: 4, PID: 1, TID: 1, Addr: 0x5fff, Args: []uint64{0}}, 0)
		hit(1, 0, 1, 0xf000)
		hit(1, 0, 2, 0xe000)
		hit(2, 0, 3, 0xf000)
		end(p)
		biases[1] = again
		hit(1, 2, 4, 0xe000) // would return from the call that began at 2
		hit(1, 0, 5, 0xf000) // would unwind the call that began at 1
		hit(2, 2, 6, 0xf000)
		hit(1, 2, 7, 0xf000)
		if want := []string{"1 1 open at 0x0", "1 2 open at 0x0", "2 3 return at 0x0", "1 5 return at 0x100000"}; !slices.Equal(calls, want) {
			t.Errorf("%s: %q, want %q", name, calls, want)
		}
		p.forget(map[int]bool{1: true, 2: true})
		if n := len(p.known) + len(p.sched); n != 0 {
			t.Errorf("%s: %d things left", name, n)
		}
	}
}

// TestManyOpenCalls checks that calls that begin while maxOpen calls are open are counted but not paired, that they
// leave no state, and that the other calls end normally.
func TestManyOpenCalls(t *testing.T) {
	plan := testPlan()
	var calls []string
	p := streamTo(plan, returns(func(c *Call) { calls = append(calls, fmt.Sprintf("%d %v", c.Goid, c.Outcome)) }))
	p.maxOpen = 3
	for goid := range uint64(5) {
		hit(p, uprobe.Entry, 0, goid+1, 16, 1)
	}
	hit(p, uprobe.Entry, 0, 3, 32, 1) // nested in the call of goroutine 3
	if n := len(p.proc.stacks); n != 3 {
		t.Errorf("%d stacks for 3 calls", n)
	}
	hit(p, uprobe.Return, 0, 3, 32, 1)
	hit(p, uprobe.Return, 0, 5, 16, 1)
	hit(p, uprobe.Return, 0, 3, 16, 1) // now a call may begin
	hit(p, uprobe.Entry, 0, 6, 16, 1)
	p.leaveOpen(func(int) bool { return true })
	a := p.account
	if want := []string{"3 return", "1 open", "2 open", "6 open"}; a.funcs[0].Calls != 7 || a.unfollowed != 3 || len(calls) != 4 || calls[0] != want[0] || p.open != 0 {
		t.Errorf("%q, want %q; %d open, %+v", calls, want, p.open, a)
	}
}
