package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
)

// learns reports whether it learns of new threads, from the kernel's event task_newtask. The stream sorts these events
// among the hits by time, so that no thread is too short-lived. The events of all processes are recorded: before Linux
// 5.8 the kernel's filter by process loses a process in which a thread other than the first one executes a program (see
// tracefs.StartKernel).
func (k *kernelEvents) learns() bool { return len(k.names) > 0 }

// begin reads the present processes from /proc. Kernel events must be recorded before, so that no thread is missed.
func (k *kernelEvents) begin() error {
	for _, pid := range k.opt.PIDs {
		if err := k.addWithChildren(pid); err != nil {
			return err
		}
	}
	if !k.allTasks {
		return nil
	}
	all, err := procfs.All()
	for _, pid := range all {
		_ = k.add(pid) // fails for a process that has just ended
	}
	return err
}

// selects reports whether a process is selected.
func (k *kernelEvents) selects(pid int) bool { return k.allTasks || k.selected[pid] }

// processOf returns the process of a thread. found is the process in the event or in /proc. If the kernel records no
// process with a hit, it ignores found and returns the process that it knows.
func (k *kernelEvents) processOf(tid, found int) int {
	if !k.noTGID {
		return found
	}
	return k.tasks[tid]
}

// addWithChildren adds a process and, with --fork, all its present descendants.
func (k *kernelEvents) addWithChildren(pid int) error {
	if err := k.add(pid); err != nil {
		return err
	}
	for grown := k.opt.Fork; grown; {
		all, err := procfs.All()
		if err != nil {
			return err
		}
		grown = false
		for _, child := range all {
			if stat, alive := procfs.LiveStat(child); !alive || k.selected[child] || !k.selected[stat.Parent] {
				continue
			}
			if k.add(child) == nil { // fails for a process that has just ended
				grown = true
			}
		}
	}
	return nil
}

// add adds a process and its threads.
func (k *kernelEvents) add(pid int) error {
	tids, err := procfs.Threads(pid)
	if err != nil {
		return fmt.Errorf("list threads of process %d: %w", pid, err)
	}
	k.selected[pid], k.tasks[pid] = true, pid
	for _, tid := range tids {
		k.tasks[tid] = pid
	}
	return nil
}

// started adds PROGRAM's process before any of its events is read.
func (k *kernelEvents) started(pid int) {
	k.selected[pid], k.tasks[pid], k.program = true, pid, pid
}

// cloneThread is the clone flag of a new thread, as opposed to a new process: CLONE_THREAD in include/uapi/linux/sched.h.
const cloneThread = 0x10000

// learn processes a task_newtask event.
func (k *kernelEvents) learn(ev *pairing.KernelEvent) {
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
	if thread := flags&cloneThread != 0; k.allTasks {
		k.addTask(ev.TID, task, thread)
	} else {
		k.addChild(ev, task, thread)
	}
}

// addTask notes a new thread or process if the threads of all processes are known. parent is the thread that created it.
func (k *kernelEvents) addTask(parent, task int, thread bool) {
	if k.tasks[task] = task; thread {
		k.tasks[task] = k.tasks[parent]
	}
}

// addChild notes a new thread of a selected process, or a new child process. ev is the event of the thread that created it.
func (k *kernelEvents) addChild(ev *pairing.KernelEvent, task int, thread bool) {
	if task == k.program {
		k.program = 0
		return
	}
	pid, ours := k.tasks[ev.TID]
	switch {
	case ours && thread:
		k.tasks[task] = pid
	case ours && k.opt.Fork:
		k.tasks[task], k.selected[task] = task, true
	case ev.Time <= k.readAt && k.tasks[task] != 0 && k.process(task) == k.tasks[task]:
		// The thread was created before begin read /proc, and its parent had ended by then.
	default: // a thread of another process got the number of a known one
		delete(k.tasks, task)
		delete(k.selected, task)
	}
}

// anyAlive reports whether any selected process lives. It returns false if it does not learn of new threads.
func (k *kernelEvents) anyAlive() bool {
	return k.learns() && slices.ContainsFunc(slices.Collect(maps.Keys(k.selected)), procfs.Alive)
}
