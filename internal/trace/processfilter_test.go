package trace

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// TestProcessFilterUnnamed: threads are learnt of where lines do not name the process, unless kernel
// events are asked for, which take event-fork.
func TestProcessFilterUnnamed(t *testing.T) {
	old, latest := tracefs.Features{Instances: true}, tracefs.Features{Instances: true, RecordTGID: true}
	one := Filter{PIDs: []int{1}}
	for i, c := range []struct {
		opt  Options
		want bool
	}{
		{Options{Features: old}, true},
		{Options{Features: old, Filter: one}, true},
		{Options{Features: old, With: []string{"sched:sched_switch"}}, false},
		{Options{Features: old, Filter: one, Sched: true}, false},
		{Options{Features: latest, Filter: one}, false},
		{Options{}, false}, // nor before Linux 3.14
	} {
		if f := newProcessFilter(&c.opt); f.learns() != c.want {
			t.Errorf("%d: %v", i, f.names)
		}
	}
}

// TestProcessFilterBorn: a process is followed if its parent is, whichever of its threads
// started it, until its number goes to somebody else.
func TestProcessFilterBorn(t *testing.T) {
	there := map[int]int{10: 10, 11: 11, 12: 12, 13: 13} // whoever has the numbers
	f := newProcessFilter(&Options{Filter: Filter{Fork: true}, Features: tracefs.Features{RecordTGID: true}})
	f.process = func(tid int) int { return there[tid] }
	f.started(10)
	for _, step := range []struct {
		what         string
		parent, task int
		thread       bool
		want         string
	}{
		{"PROGRAM itself, started by somebody else", 1, 10, false, "map[10:true]"},
		{"somebody else's", 1, 2, false, "map[10:true]"},
		{"a thread", 10, 11, true, "map[10:true]"},
		{"a child by that thread", 11, 12, false, "map[10:true 12:true]"},
		{"its child", 12, 13, false, "map[10:true 12:true 13:true]"},
		{"the number of the first child, once more, of somebody else", 1, 12, false, "map[10:true 13:true]"},
		{"whose child is not", 12, 14, false, "map[10:true 13:true]"},
		{"the thread's number, of somebody else's thread", 2, 11, true, "map[10:true 13:true]"},
		{"whose child is not", 11, 15, false, "map[10:true 13:true]"},
		{"the second child's number", 1, 13, false, "map[10:true]"},
		{"PROGRAM's number", 1, 10, false, "map[]"},
	} {
		f.addChild(kernelEvent(step.parent, 2), step.task, step.thread)
		if got := fmt.Sprint(f.selected); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
	// In /proc when it was looked at, and started by a thread that was gone by then.
	f.selected[20], f.tasks[20], f.tasks[21], there[21] = true, 20, 20, 20
	f.readAt = 1
	f.addChild(kernelEvent(19, 1), 21, true)
	f.addChild(kernelEvent(21, 2), 22, false)
	if got := fmt.Sprint(f.selected); got != "map[20:true 22:true]" {
		t.Errorf("%s", got)
	}
}

// TestProcessFilterAll: where all threads are known, a number is that of its latest thread's process.
func TestProcessFilterAll(t *testing.T) {
	f := newProcessFilter(&Options{Features: tracefs.Features{Instances: true}})
	f.process = func(tid int) int { return 7 } // as the kernel does of numbers that are used again
	f.tasks[10] = 10
	for _, step := range []struct {
		what         string
		parent, task int
		thread       bool
		want         int
	}{
		{"a thread", 10, 11, true, 10},
		{"a child of that thread", 11, 12, false, 12},
		{"a thread of the child's", 12, 13, true, 12},
		{"its number, a process's", 1, 13, false, 13},
		{"which is a thread's again", 12, 13, true, 12},
	} {
		f.addTask(step.parent, step.task, step.thread)
		if got := f.processOf(step.task, 7); got != step.want || !f.selects(got) {
			t.Errorf("%s: of process %d, wanted %v", step.what, got, f.selects(got))
		}
	}
}

func kernelEvent(tid int, time uint64) *pairing.KernelEvent {
	ev := &pairing.KernelEvent{}
	ev.TID, ev.Time = tid, time
	return ev
}
