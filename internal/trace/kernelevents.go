package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// kernelEvents records events of the kernel: the ones of --with, scheduler events, and the ones from which it learns of
// new threads. If it learns of threads, it records the events of all processes. Otherwise it records the events of the
// processes of -p and PROGRAM, or without both, of each process from its first hit on.
//
// It also knows the selected processes and, on kernels that record no process with a hit (before Linux 4.14), the process
// of each thread, because /proc lists no threads that have ended.
type kernelEvents struct {
	opt     *Options
	sched   bool             // record scheduler events
	session *tracefs.Session // nil without kernel events
	all     []string         // names of all recorded events, in the session's order; the --with ones come first
	// saidLost, saidSchedLost and saidMissing are true once a message was printed: that events for new threads were
	// lost, that scheduler events were lost, and that the events of a process cannot be recorded.
	saidLost, saidSchedLost, saidMissing bool
	followed                             map[int]bool // processes with recorded events
	delivered                            uint64       // number of events of selected processes in the window

	learns   bool         // it learns of new threads, from newTask
	selected map[int]bool // the selected processes; not used if allTasks is set
	noTGID   bool         // the kernel records no process with a hit
	// tasks maps threads to their processes: all threads if allTasks is set, else the threads of selected processes. A
	// thread that has ended stays until its number is used again.
	tasks    map[int]int
	allTasks bool
	program  int               // PROGRAM's process, until its own task_newtask comes
	process  func(tid int) int // finds the process of a thread
	readAt   uint64            // time of the trace clock at which begin had read /proc
}

// newKernelEvents returns the events for a source.
func newKernelEvents(opt *Options, sched bool) *kernelEvents {
	k := &kernelEvents{opt: opt, sched: sched, followed: make(map[int]bool), selected: make(map[int]bool), tasks: make(map[int]int)}
	k.process = func(tid int) int { return k.session.Process(tid, 0) }
	k.noTGID = !opt.Recorder.Features.RecordTGID && opt.Recorder.Features.Instances
	// With --with or --sched, kernel events are recorded only for the selected processes.
	k.learns = opt.Fork || k.noTGID && len(opt.With) == 0 && !sched
	k.allTasks = k.learns && !opt.Fork && len(opt.PIDs) == 0
	return k
}

// start begins to record kernel events.
func (k *kernelEvents) start(fs *tracefs.FS) (err error) {
	var hidden []string
	if k.learns {
		hidden = append(hidden, newTask)
	}
	if k.sched {
		hidden = slices.Concat(hidden, pairing.SchedEvents)
	}
	names := slices.Clone(k.opt.With)
	for _, name := range hidden {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	k.session, err = tracefs.StartKernel(fs, names, k.opt.Recorder.BufferKB, !k.learns)
	switch {
	case err != nil && k.learns:
		return fmt.Errorf("follow processes: %w", err)
	case err != nil:
		return err
	case k.learns:
		if err := k.begin(); err != nil {
			return err
		}
		now, err := k.session.Mark(false)
		if err != nil {
			return fmt.Errorf("follow processes: %w", err)
		}
		k.readAt = now.Ticks
	}
	k.all = k.session.Names()
	for _, pid := range k.opt.PIDs {
		if err := k.session.Follow(pid); err != nil {
			return err
		}
		k.followed[pid] = true
		if !k.learns {
			k.selected[pid] = true
		}
	}
	return nil
}

// followRunning records the events of processes that run the file already, because the state of their threads must be
// known at their first call. It does nothing without scheduler events, and with -p.
func (k *kernelEvents) followRunning(link string) {
	if !k.sched || len(k.opt.PIDs) > 0 {
		return
	}
	for _, pid := range procfs.Running(link) {
		if k.opt.Among == nil || k.opt.Among(pid) {
			k.follow(pid)
		}
	}
}

// handle processes a kernel event and reports whether to show it. Events outside of the window only update the process
// filter.
func (k *kernelEvents) handle(ev *pairing.KernelEvent, within bool) (shown bool) {
	if k.learns && k.all[ev.Format] == newTask {
		k.learn(ev)
	}
	hidden := ev.Format >= len(k.opt.With)
	if !within || !k.selects(ev.PID) || hidden && !k.sched {
		return false
	}
	k.delivered++
	return !hidden
}

// follow begins to record the events of a process that has hit a probe. With -p, start has done so.
func (k *kernelEvents) follow(pid int) {
	if k.session == nil || k.followed[pid] || pid == 0 || len(k.opt.PIDs) > 0 {
		return
	}
	k.followed[pid] = true
	if err := k.session.Follow(pid); err != nil && procfs.Alive(pid) && !k.saidMissing {
		k.saidMissing = true
		k.opt.Say("%v: its kernel events are missing", err)
	}
}

// forget drops the state of a process that has ended: its number may be used again, and the kernel has removed it from
// set_event_pid.
func (k *kernelEvents) forget(pid int) {
	delete(k.followed, pid)
	if !k.learns {
		delete(k.selected, pid)
	}
}

// spawn starts the program so that its kernel events are recorded from the first event on.
func (k *kernelEvents) spawn(p *Command) error {
	if k.session == nil {
		return p.Start()
	}
	if err := k.session.Spawn(p.Start); err != nil {
		return err
	}
	k.started(p.Process.Pid)
	k.followed[p.Process.Pid] = true
	return nil
}

// audit returns how many kernel events were delivered and lost, or nil without --with and --sched. It prints a message
// once if losses make the results doubtful.
func (k *kernelEvents) audit(unparsed uint64) (*stats.KernelEvents, error) {
	if k.session == nil {
		return nil, nil
	}
	lost, err := k.session.Overruns()
	if err != nil {
		return nil, fmt.Errorf("count kernel events: %w", err)
	}
	if missed := lost + unparsed; k.learns && missed > 0 && !k.saidLost {
		k.saidLost = true
		k.opt.Say("the kernel events of up to %s were lost: some of their calls may be missing, and calls of other processes may be counted", printable.Plural(int(missed), "new thread"))
	}
	if k.sched && lost > 0 && !k.saidSchedLost {
		k.saidSchedLost = true
		k.opt.Say("up to %s of threads were lost: the times with and without a CPU may be wrong", printable.Plural(int(lost), "state change"))
	}
	if len(k.opt.With) == 0 && !k.sched {
		return nil, nil
	}
	return &stats.KernelEvents{Names: k.opt.With, Delivered: k.delivered, Lost: lost, Unparsed: unparsed}, nil
}

// newTask is the kernel's event of a new thread or process. The stream sorts it among the hits by time, so that no thread
// is too short-lived. The events of all processes are recorded: before Linux 5.8 the kernel's filter by process loses a
// process in which a thread other than the first one executes a program (see tracefs.StartKernel).
const newTask = "task:task_newtask"

// begin reads the present processes from /proc: the ones of -p and, with --fork, their descendants, or all. Kernel events
// must be recorded before, so that no thread is missed.
func (k *kernelEvents) begin() error {
	for _, pid := range k.opt.PIDs {
		if err := k.add(pid); err != nil {
			return err
		}
	}
	for again := k.opt.Fork || k.allTasks; again; {
		again = false
		all, err := procfs.All()
		if err != nil {
			return err
		}
		for _, pid := range all {
			if !k.selected[pid] && (k.allTasks || k.isChild(pid)) && k.add(pid) == nil { // add fails for a process that has just ended
				again = k.opt.Fork
			}
		}
	}
	return nil
}

// isChild reports whether a process is alive and the child of a selected one.
func (k *kernelEvents) isChild(pid int) bool {
	stat, alive := procfs.LiveStat(pid)
	return alive && k.selected[stat.Parent]
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
	k.addTask(ev, task, flags&cloneThread != 0)
}

// addTask notes a new thread of a selected process, or a new child process. ev is the event of the thread that created it.
func (k *kernelEvents) addTask(ev *pairing.KernelEvent, task int, thread bool) {
	if task == k.program {
		k.program = 0
		return
	}
	pid, ours := k.tasks[ev.TID]
	switch ours = ours || k.allTasks; {
	case ours && thread:
		k.tasks[task] = pid
	case ours && (k.opt.Fork || k.allTasks):
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
	return k.learns && slices.ContainsFunc(slices.Collect(maps.Keys(k.selected)), procfs.Alive)
}
