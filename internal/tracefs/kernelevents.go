package tracefs

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
)

// StartKernel starts to record events of the kernel itself: names are GROUP:EVENT, from [FS.KernelEvents]. If
// listed is true, it records them only for the processes that Follow and Spawn add, else for all processes. The session
// is raw. bufferKB is the size of the ring buffer per CPU in KB; 0 selects a size that suits the machine.
//
// Kernel events have their own instance. So they take no room from hits and can't be mistaken for hits. Besides,
// set_event_pid must not apply to probes, and applies only to the events of its instance. The instance uses the same
// clock as the probes' instance.
func StartKernel(f *FS, names []string, bufferKB int, listed bool) (*Session, error) {
	s, _, err := newSession(f, Target{}, nil, nil)
	if err != nil {
		return nil, err
	}
	if !s.features.Instances {
		return nil, fmt.Errorf("record kernel events: %w (instances, since Linux 3.14)", ErrNotSupported)
	}
	s.kernel = true
	for _, name := range names {
		group, event, _ := strings.Cut(name, ":")
		s.events = append(s.events, Event{group: group, Name: event})
	}
	steps := []func() error{func() error { return s.prepare(Options{Raw: true, BufferKB: bufferKB}) }}
	if listed {
		// An empty set_event_pid would select all processes. With a thread that has ended, it selects none.
		steps = append(steps, s.enablePIDFilter, func() error { return s.Spawn(func() error { return nil }) })
	}
	return s.begin(append(steps, func() error { return s.Arm(context.Background(), s.events) })...)
}

// enablePIDFilter prepares the session for Follow and Spawn.
func (s *Session) enablePIDFilter() error {
	// With set_event_pid but without event-fork, threads that start later would be missed without notice.
	if !s.features.EventPID || !s.features.EventFork || !s.features.Instances {
		return fmt.Errorf("record events of single processes: %w (it takes event-fork, since Linux 4.9)", ErrNotSupported)
	}
	s.pidFilter = true
	return s.write("1", "options", "event-fork")
}

// Follow records events of a process, its threads, and the processes that it starts. It does nothing if the session
// records all processes.
//
// set_event_pid takes thread ids, and event-fork adds the threads that these threads start from now on. Follow reads
// the list of threads again until the list has no new thread, so that it misses none.
//
// set_event_pid must not be used for probes. Before Linux 5.8, it loses the hits of a process after a thread
// other than the first has executed a program. That thread takes over the first thread's number, and the kernel
// removes this number from the filter when it frees the first thread (kernel/trace/trace_events.c,
// event_filter_pid_sched_process_exit; fs/exec.c, de_thread). Since 5.8 the two threads exchange their numbers, and
// the kernel removes the other number (commit 6b03d1304a32, "proc: Ensure we see the exit of each process tid exactly
// once").
func (s *Session) Follow(pid int) error {
	known := make(map[int]bool)
	for s.pidFilter {
		tids, err := procfs.Threads(pid)
		if err != nil {
			return fmt.Errorf("list threads of process %d: %w", pid, err)
		}
		tids = slices.DeleteFunc(tids, func(tid int) bool { return known[tid] })
		if len(tids) == 0 {
			return nil
		}
		for _, tid := range tids {
			known[tid] = true
		}
		// The kernel reads PAGE_SIZE bytes at a time, and may split a number there.
		for few := range slices.Chunk(tids, 200) {
			if err := s.addToFilter(few...); err != nil {
				return err
			}
		}
	}
	return nil
}

// addToFilter adds threads to set_event_pid.
func (s *Session) addToFilter(tids ...int) error {
	return s.fs.files.Append(s.file("set_event_pid"), strings.Trim(fmt.Sprint(tids), "[]")+"\n")
}

// Spawn calls start on a thread whose events are recorded. So the events of a process that start creates are recorded
// from the first event on.
func (s *Session) Spawn(start func() error) error {
	if !s.pidFilter {
		return start()
	}
	done := make(chan error)
	go func() {
		// The goroutine never unlocks the thread, so both end together, and the kernel removes the thread from
		// the filter.
		runtime.LockOSThread()
		err := s.addToFilter(unix.Gettid())
		if err == nil {
			err = start()
		}
		done <- err
	}()
	return <-done
}

// maxKernelEvents limits the number of events that KernelEvents returns. It is above the number of events of any group:
// syscalls has 720 on Linux 6.18.
const maxKernelEvents = 1000

// KernelEvents returns the kernel's own events that patterns match, as GROUP:EVENT. Patterns have the syntax of
// [path.Match]. Events are in the order of the patterns, and in the order of their names for each pattern.
//
// It leaves out probe events. DANGER: if this process enabled a probe event, and the event's owner deleted it
// meanwhile, the kernel could crash (see checkDisabled).
func (f *FS) KernelEvents(patterns []string) ([]string, error) {
	b, err := f.files.Read(f.path("available_events"))
	if err != nil {
		return nil, err
	}
	dynamic := f.dynamicEvents()
	known := slices.DeleteFunc(strings.Fields(string(b)), func(name string) bool {
		group, event, ok := strings.Cut(name, ":")
		return !ok || dynamic[group+"/"+event] || strings.HasPrefix(group, prefix)
	})
	slices.Sort(known)
	var found []string
	for _, p := range patterns {
		group, event, ok := strings.Cut(p, ":")
		if _, err := path.Match(p, ""); err != nil || !ok || group == "" || event == "" {
			return nil, fmt.Errorf("find kernel event %q: not GROUP:EVENT, like sched:sched_switch or block:*", p)
		}
		matched := false
		for _, name := range known {
			if match, _ := path.Match(p, name); match {
				matched = true
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
		if !matched {
			return nil, fmt.Errorf("find kernel event %q: this kernel has none of that name%s", p, printable.DidYouMean(p, slices.Values(known)))
		}
	}
	if len(found) > maxKernelEvents {
		return nil, fmt.Errorf("find kernel events %q: %d match, at most %d can be read", strings.Join(patterns, ","), len(found), maxKernelEvents)
	}
	return found, nil
}

// dynamicEvents returns all defined probe events and synthetic events, as "GROUP/EVENT".
func (f *FS) dynamicEvents() map[string]bool {
	names := make(map[string]bool)
	for _, file := range []string{"uprobe_events", "kprobe_events", "dynamic_events"} {
		b, _ := f.files.Read(f.path(file)) // a kernel without the file has no such events
		for line := range strings.Lines(string(b)) {
			names[eventOf(line)] = true
		}
	}
	return names
}
