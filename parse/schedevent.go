package parse

import (
	"slices"

	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// SchedEvents are the kernel events that tell of threads what Plan.Sched tells of goroutines.
// Where a [KernelSource] has them not, threads are taken to have a CPU all the time.
var SchedEvents = []string{"sched:sched_switch", "sched:sched_waking"}

// scheduled takes a hit in Go's scheduler.
func (p *Pairer) scheduled(ev *Event, kind uprobe.Kind, f *uprobe.Fields) {
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
func (p *Pairer) split(f *frame, end uint64) Split {
	if p.sched == nil || end < f.start {
		return Split{}
	}
	return p.at.since(f.began).of(end - f.start)
}

// schedFormats are where SchedEvents have what matters.
type schedFormats struct {
	switched, waking         int // indices of the events, -1 for none
	prev, state, next, woken kernelField
}

func newSchedFormats(names []string, formats *kernelFormats) schedFormats {
	s := schedFormats{switched: slices.Index(names, SchedEvents[0]), waking: slices.Index(names, SchedEvents[1])}
	ok := true
	find := func(event int, name string) (out kernelField) {
		i := slices.IndexFunc(formats.events[event], func(f kernelField) bool { return f.name == name && f.kind == numberField })
		if i < 0 {
			ok = false
			return out
		}
		return formats.events[event][i]
	}
	if s.switched >= 0 {
		s.prev, s.state, s.next = find(s.switched, "prev_pid"), find(s.switched, "prev_state"), find(s.switched, "next_pid")
		if !ok {
			s.switched = -1
		}
	}
	if ok = true; s.waking >= 0 {
		if s.woken = find(s.waking, "pid"); !ok {
			s.waking = -1
		}
	}
	return s
}

// asleep are the states of a thread that needs to be woken, S to P (TASK_REPORT of
// include/linux/sched.h). Runnable is 0, and a bit above them that says preempted
// (__trace_sched_switch_state in include/trace/events/sched.h, TASK_STATE_MAX before 4.14).
const asleep = 0x7f

// happened takes a kernel event.
func (f *schedFormats) happened(s *scheduler, ev *KernelEvent) {
	switch {
	case s == nil:
	case ev.Event == f.switched:
		s.off(ev.Time, int(f.prev.number(ev.data, f.prev.at)), f.state.number(ev.data, f.state.at)&asleep != 0)
		s.on(ev.Time, int(f.next.number(ev.data, f.next.at)))
	case ev.Event == f.waking:
		s.wake(ev.Time, int(f.woken.number(ev.data, f.woken.at)))
	}
}
