package parse

import (
	"github.com/ftgo/ftgo/internal/ftrace"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// SchedEvents are the kernel events that tell of threads what Plan.Sched tells of goroutines.
// Where a source has them not, threads are taken to have a CPU all the time.
var SchedEvents = []string{"sched:sched_switch", "sched:sched_waking"}

// scheduled takes a hit in Go's scheduler.
func (p *pairer) scheduled(ev *ftrace.Event, kind uprobe.Kind, f *uprobe.Fields) {
	if p.sched == nil {
		return
	}
	key := stackKey{pid: ev.PID, id: ev.Args[f.G]}
	switch kind {
	case uprobe.Status:
		p.sched.status(ev.Time, ev.TID, key, ev.Args[f.Old], ev.Args[f.New])
	case uprobe.Park:
		p.sched.park(ev.Time, ev.TID, key)
	default:
		p.sched.change(ev.Time, ev.TID, key)
	}
}

// split divides the time of a call that is ending.
func (p *pairer) split(f *frame, end uint64) Split {
	if p.sched == nil || end < f.start {
		return Split{}
	}
	return p.at.since(f.atEntry).of(end - f.start)
}

// asleep are the states of a thread that needs to be woken, S to P (TASK_REPORT of
// include/linux/sched.h). Runnable is 0, and a bit above them that says preempted
// (__trace_sched_switch_state in include/trace/events/sched.h, TASK_STATE_MAX before 4.14).
const asleep = 0x7f

// kernel takes an event of a SchedEvents' name. What the kernel describes otherwise tells nothing.
func (s *scheduler) kernel(name string, ev *ftrace.KernelEvent) {
	switch name {
	case SchedEvents[0]:
		prev, hasPrev := ev.Number("prev_pid")
		state, hasState := ev.Number("prev_state")
		next, hasNext := ev.Number("next_pid")
		if hasPrev && hasState && hasNext {
			s.off(ev.Time, int(prev), state&asleep != 0)
			s.on(ev.Time, int(next))
		}
	case SchedEvents[1]:
		if woken, ok := ev.Number("pid"); ok {
			s.wake(ev.Time, int(woken))
		}
	}
}
