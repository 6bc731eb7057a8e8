package pairing

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// TestWaitInCall checks that a wait has the goroutine ID of the call around it, if no runtime probe has reported the ID
// yet.
func TestWaitInCall(t *testing.T) {
	plan := testPlan()
	plan.Sched, plan.Reasons, plan.Waits = true, []string{"waiting", "syscall"}, 2
	for _, reason := range plan.Reasons {
		plan.Funcs = append(plan.Funcs, uprobe.Probe{Func: &offsets.Func{Name: reason}, Sites: &offsets.Sites{}})
	}
	var calls []string
	p := streamTo(plan, returns(func(c *Call) {
		calls = append(calls, fmt.Sprintf("%s of %d: %d to %d, waits %v", plan.Funcs[c.Func].Name, c.Goid, c.Start, c.End, c.Waits))
	}))
	hit(p, uprobe.Entry, 0, 7, 16, 10)
	p.sched.change(13, 1, Waiting)
	w := p.sched.wake(18, 1)
	w.reason = plan.SyscallReason()
	p.endWait(w)
	hit(p, uprobe.Return, 0, 7, 16, 20)
	if want := []string{"syscall of 7: 13 to 18, waits []", "f of 7: 10 to 20, waits [{1 5}]"}; !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}
