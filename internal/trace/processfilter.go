package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
)

// processFilter knows the selected processes, which change while ftgo runs if --fork is set. On kernels that record no
// process with a hit (before Linux 4.14) it also knows the process of each thread: /proc lists no threads that have
// ended.
//
// It learns of new threads from the kernel's event task_newtask. The stream sorts these events among the hits by time,
// so that no thread is too short-lived. The events of all processes are recorded: before Linux 5.8 the kernel's filter by
// process loses a process in which a thread other than the first one executes a program (see tracefs.StartKernel).
type processFilter struct {
	fork     bool
	selected map[int]bool // the selected processes; not used if all is set
	noTGID   bool         // the kernel records no process with a hit
	// tasks maps threads to their processes: all threads if all is set, else the threads of selected processes. A
	// thread that has ended stays until its number is used again.
	tasks   map[int]int
	all     bool
	program int               // PROGRAM's process, until its own task_newtask comes
	process func(tid int) int // finds the process of a thread
	readAt  uint64            // time of the trace clock at which begin had read /proc
	names   []string          // kernel events to learn from
}

// newProcessFilter returns a filter. It learns from kernel events only if the processes of -p and the hits don't suffice.
func newProcessFilter(o *Options) processFilter {
	f := processFilter{fork: o.Fork, selected: make(map[int]bool), tasks: make(map[int]int)}
	f.noTGID = !o.Features.RecordTGID && o.Features.Instances
	// With --with or --sched, kernel events are recorded only for the selected processes.
	learns := f.noTGID && len(o.With) == 0 && !o.Sched
	if o.Fork || learns {
		f.names = []string{"task:task_newtask"}
		f.all = !o.Fork && len(o.PIDs) == 0
	}
	return f
}

// learns reports whether the filter learns of new threads from kernel events.
func (f *processFilter) learns() bool { return len(f.names) > 0 }

// begin reads the present processes from /proc. Kernel events must be recorded before, so that no thread is missed.
func (f *processFilter) begin(pids []int, processOf func(tid int) int) error {
	f.process = processOf
	for _, pid := range pids {
		if err := f.addWithChildren(pid); err != nil {
			return err
		}
	}
	if !f.all {
		return nil
	}
	all, err := procfs.All()
	for _, pid := range all {
		_ = f.add(pid) // fails for a process that has just ended
	}
	return err
}

// selects reports whether a process is selected.
func (f *processFilter) selects(pid int) bool { return f.all || f.selected[pid] }

// processOf returns the process of a thread. found is the process in the event or in /proc. If the kernel records no
// process with a hit, it ignores found and returns the process that the filter knows.
func (f *processFilter) processOf(tid, found int) int {
	if !f.noTGID {
		return found
	}
	return f.tasks[tid]
}

// addWithChildren adds a process and, with --fork, all its present descendants.
func (f *processFilter) addWithChildren(pid int) error {
	if err := f.add(pid); err != nil {
		return err
	}
	for grown := f.fork; grown; {
		all, err := procfs.All()
		if err != nil {
			return err
		}
		grown = false
		for _, child := range all {
			if stat, alive := procfs.LiveStat(child); !alive || f.selected[child] || !f.selected[stat.Parent] {
				continue
			}
			if f.add(child) == nil { // fails for a process that has just ended
				grown = true
			}
		}
	}
	return nil
}

// add adds a process and its threads.
func (f *processFilter) add(pid int) error {
	tids, err := procfs.Threads(pid)
	if err != nil {
		return fmt.Errorf("list threads of process %d: %w", pid, err)
	}
	f.selected[pid], f.tasks[pid] = true, pid
	for _, tid := range tids {
		f.tasks[tid] = pid
	}
	return nil
}

// started adds PROGRAM's process before any of its events is read.
func (f *processFilter) started(pid int) {
	f.selected[pid], f.tasks[pid], f.program = true, pid, pid
}

// cloneThread is the clone flag of a new thread, as opposed to a new process: CLONE_THREAD in include/uapi/linux/sched.h.
const cloneThread = 0x10000

// learn processes a task_newtask event.
func (f *processFilter) learn(ev *pairing.KernelEvent) {
	var task int
	var flags uint64
	for _, field := range ev.Fields() {
		switch field.Name {
		case "pid":
			task = int(field.Num)
		case "clone_flags":
			flags = field.Num
		}
	}
	if thread := flags&cloneThread != 0; f.all {
		f.addTask(ev.TID, task, thread)
	} else {
		f.addChild(ev, task, thread)
	}
}

// addTask notes a new thread or process if the threads of all processes are known. parent is the thread that created it.
func (f *processFilter) addTask(parent, task int, thread bool) {
	if f.tasks[task] = task; thread {
		f.tasks[task] = f.tasks[parent]
	}
}

// addChild notes a new thread of a selected process, or a new child process. ev is the event of the thread that created it.
func (f *processFilter) addChild(ev *pairing.KernelEvent, task int, thread bool) {
	if task == f.program {
		f.program = 0
		return
	}
	pid, ours := f.tasks[ev.TID]
	switch {
	case ours && thread:
		f.tasks[task] = pid
	case ours && f.fork:
		f.tasks[task], f.selected[task] = task, true
	case ev.Time <= f.readAt && f.tasks[task] != 0 && f.process(task) == f.tasks[task]:
		// The thread was created before begin read /proc, and its parent had ended by then.
	default: // a thread of another process got the number of a known one
		delete(f.tasks, task)
		delete(f.selected, task)
	}
}

// anyAlive reports whether any selected process lives. It returns false for a filter that does not learn of new threads.
func (f *processFilter) anyAlive() bool {
	return f.learns() && slices.ContainsFunc(slices.Collect(maps.Keys(f.selected)), procfs.Alive)
}
