package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
)

// processFilter knows the processes that are wanted where these change, with --fork. Where lines do not name the
// process, before Linux 4.14, it knows whose every thread is: /proc does not tell of those that have ended. It learns that from events of the kernel, which
// come in order of time with the hits of probes, so that nothing is too short to be seen. They are
// of all processes: before Linux 5.8 the kernel's own filter loses a process which another thread than its
// first executes a program in (see tracefs.StartKernel).
type processFilter struct {
	fork    bool
	wanted  map[int]bool // processes, unless all are
	unnamed bool         // lines do not name the process
	// tasks are the threads of wanted processes, or, if all, of all that there are; a number
	// whose thread has ended stays until it is used again.
	tasks   map[int]int
	all     bool
	program int               // the number of PROGRAM's process until the event comes that it was started
	process func(tid int) int // finds a thread's process
	looked  uint64            // when begin had looked at what was there, by the trace clock
	names   []string          // events
}

// newProcessFilter learns from no events if the wanted processes are known from the start.
func newProcessFilter(o *Options) processFilter {
	f := processFilter{fork: o.Fork, wanted: make(map[int]bool), tasks: make(map[int]int)}
	f.unnamed = !o.Features.RecordTGID && o.Features.Instances
	// Kernel events of single processes are recorded apart, if at all.
	learns := f.unnamed && len(o.With) == 0 && !o.Sched
	if o.Fork || learns {
		f.names = []string{"task:task_newtask"}
		f.all = !o.Fork && len(o.PIDs) == 0
	}
	return f
}

// learns tells whether the wanted processes change.
func (f *processFilter) learns() bool { return len(f.names) > 0 }

// begin looks for what is there already; events have been recorded since before.
func (f *processFilter) begin(pids []int, processOf func(tid int) int) error {
	f.process = processOf
	for _, pid := range pids {
		if err := f.family(pid); err != nil {
			return err
		}
	}
	if !f.all {
		return nil
	}
	all, err := procfs.All()
	for _, pid := range all {
		_ = f.add(pid) // it fails for one that has just ended
	}
	return err
}

// wants tells whether a process is wanted: where the threads of all are known, each is.
func (f *processFilter) wants(pid int) bool { return f.all || f.wanted[pid] }

// of is the process of a thread by now, of which found is what lines or /proc tell.
func (f *processFilter) of(tid, found int) int {
	if !f.unnamed {
		return found
	}
	return f.tasks[tid]
}

// family adds a process, and those that it has started and that are there.
func (f *processFilter) family(pid int) error {
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
			if stat, alive := procfs.Living(child); !alive || f.wanted[child] || !f.wanted[stat.Parent] {
				continue
			}
			if f.add(child) == nil { // else it has just ended
				grown = true
			}
		}
	}
	return nil
}

// add adds a process with the threads that it has.
func (f *processFilter) add(pid int) error {
	tids, err := procfs.Threads(pid)
	if err != nil {
		return fmt.Errorf("list threads of process %d: %w", pid, err)
	}
	f.wanted[pid], f.tasks[pid] = true, pid
	for _, tid := range tids {
		f.tasks[tid] = pid
	}
	return nil
}

// started adds PROGRAM's process, before anything of it has been read.
func (f *processFilter) started(pid int) {
	f.wanted[pid], f.tasks[pid], f.program = true, pid, pid
}

// cloneThread says of a new thread that it is no process (include/uapi/linux/sched.h).
const cloneThread = 0x10000

// learn takes the next event of those named.
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
		f.created(ev.TID, task, thread)
	} else {
		f.born(ev, task, thread)
	}
}

// created notes a new thread, of whichever process.
func (f *processFilter) created(parent, task int, thread bool) {
	if f.tasks[task] = task; thread {
		f.tasks[task] = f.tasks[parent]
	}
}

// born notes a new thread of the process that an event is of, or that process's child.
func (f *processFilter) born(ev *pairing.KernelEvent, task int, thread bool) {
	if task == f.program {
		f.program = 0
		return
	}
	pid, ours := f.tasks[ev.TID]
	switch {
	case ours && thread:
		f.tasks[task] = pid
	case ours && f.fork:
		f.tasks[task], f.wanted[task] = task, true
	case ev.Time <= f.looked && f.tasks[task] != 0 && f.process(task) == f.tasks[task]:
		// Seen in /proc before its event was read, and its parent has ended.
	default: // the number was one of ours
		delete(f.tasks, task)
		delete(f.wanted, task)
	}
}

// anyAlive tells whether a process lives that was found to be wanted.
func (f *processFilter) anyAlive() bool {
	return f.learns() && slices.ContainsFunc(slices.Collect(maps.Keys(f.wanted)), procfs.Alive)
}
