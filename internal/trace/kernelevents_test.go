package trace

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// TestProcessFilterLearns checks that the filter learns of threads if the kernel records no process with a hit, unless
// kernel events are recorded, which need event-fork.
func TestProcessFilterLearns(t *testing.T) {
	old, latest := tracefs.Features{Instances: true}, tracefs.Features{Instances: true, RecordTGID: true}
	one := procfs.Filter{PIDs: []int{1}}
	for i, c := range []struct {
		features tracefs.Features
		opt      Options
		sched    bool
		want     bool
	}{
		{old, Options{}, false, true},
		{old, Options{Filter: one}, false, true},
		{old, Options{With: []string{"sched:sched_switch"}}, false, false},
		{old, Options{Filter: one}, true, false},
		{latest, Options{Filter: one}, false, false},
		{tracefs.Features{}, Options{}, false, false}, // before Linux 3.14
	} {
		c.opt.Recorder.Features = &c.features
		if f := newKernelEvents(&c.opt, c.sched); f.learns != c.want {
			t.Errorf("%d: %v", i, f.learns)
		}
	}
}

// TestProcessFilterChild checks that the children of all threads of a selected process are selected until another process
// gets their number.
func TestProcessFilterChild(t *testing.T) {
	there := map[int]int{10: 10, 11: 11, 12: 12, 13: 13} // in /proc
	f := newKernelEvents(&Options{Filter: procfs.Filter{Fork: true}, Recorder: tracefs.Options{Features: &tracefs.Features{RecordTGID: true}}}, false)
	f.process = func(tid int) int { return there[tid] }
	f.started(10)
	for _, step := range []struct {
		what         string
		parent, task int
		thread       bool
		want         string
	}{
		{"PROGRAM itself", 1, 10, false, "map[10:true]"},
		{"another process", 1, 2, false, "map[10:true]"},
		{"a thread", 10, 11, true, "map[10:true]"},
		{"a child by that thread", 11, 12, false, "map[10:true 12:true]"},
		{"a grandchild", 12, 13, false, "map[10:true 12:true 13:true]"},
		{"another process with the child's number", 1, 12, false, "map[10:true 13:true]"},
		{"a child of that", 12, 14, false, "map[10:true 13:true]"},
		{"a thread of another process with the thread's number", 2, 11, true, "map[10:true 13:true]"},
		{"a child of that", 11, 15, false, "map[10:true 13:true]"},
		{"another process with the grandchild's number", 1, 13, false, "map[10:true]"},
		{"another process with PROGRAM's number", 1, 10, false, "map[]"},
	} {
		f.addTask(kernelEvent(step.parent, 2), step.task, step.thread)
		if got := fmt.Sprint(f.selected); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
	// Thread 21 was created before begin read /proc, and its parent had ended by then.
	f.selected[20], f.tasks[20], f.tasks[21], there[21] = true, 20, 20, 20
	f.readAt = 1
	f.addTask(kernelEvent(19, 1), 21, true)
	f.addTask(kernelEvent(21, 2), 22, false)
	if got := fmt.Sprint(f.selected); got != "map[20:true 22:true]" {
		t.Errorf("%s", got)
	}
}

// TestProcessFilterAll checks that a number stands for its latest thread if all threads are known.
func TestProcessFilterAll(t *testing.T) {
	f := newKernelEvents(&Options{Recorder: tracefs.Options{Features: &tracefs.Features{Instances: true}}}, false)
	f.process = func(tid int) int { return 7 } // stale, as the kernel's answers are for reused numbers
	f.tasks[10] = 10
	for _, step := range []struct {
		what         string
		parent, task int
		thread       bool
		want         int
	}{
		{"a thread", 10, 11, true, 10},
		{"a child of that thread", 11, 12, false, 12},
		{"a thread of the child", 12, 13, true, 12},
		{"a process with its number", 1, 13, false, 13},
		{"a thread with its number", 12, 13, true, 12},
	} {
		f.addTask(kernelEvent(step.parent, 2), step.task, step.thread)
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
