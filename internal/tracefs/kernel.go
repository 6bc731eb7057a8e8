package tracefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
)

// StartKernel begins to record events of the kernel itself, GROUP:EVENT as [FS.KernelEvents] has
// found them, as they happen to all processes, or, listed, to those that Follow and Spawn add.
// They are raw. bufferKB is the size of the ring buffer per CPU; 0 is what suits the machine.
//
// They have an instance of their own beside that of probes: they can take no room from hits,
// nothing in them can be taken for a hit, and the kernel's filter by process,
// which probes are not to have, applies to them alone. Its clock is the one that probes have.
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
		// No list would mean all processes. One whose only thread has ended is still a list.
		steps = append(steps, s.beginFollowing, func() error { return s.Spawn(func() error { return nil }) })
	}
	return s.begin(append(steps, func() error { return s.enableAll(context.Background(), s.events) })...)
}

// beginFollowing makes it possible to follow processes.
func (s *Session) beginFollowing() error {
	// With set_event_pid, but without event-fork, threads started later would be missed in silence.
	if !s.features.EventPID || !s.features.EventFork || !s.features.Instances {
		return fmt.Errorf("record events of single processes: %w (it takes event-fork, since Linux 4.9)", ErrNotSupported)
	}
	s.listed = true
	return s.write("1", "options", "event-fork")
}

// Follow records events of a process and of what it starts, unless those of all are recorded.
//
// set_event_pid takes thread ids. event-fork adds the threads that they start from now on; the list
// is read until it holds no new one, so that no thread slips through.
//
// It is not for probes: before Linux 5.8, what a process hits after another of its threads
// than the first has executed a program is missing. That thread takes over the first one's
// number, which the kernel strikes off the list when the first one is freed
// (kernel/trace/trace_events.c, event_filter_pid_sched_process_exit; fs/exec.c, de_thread).
// Since 5.8 the two change numbers, and what is struck off is the other one (commit
// 6b03d1304a32, "proc: Ensure we see the exit of each process tid exactly once").
func (s *Session) Follow(pid int) error {
	known := make(map[int]bool)
	for s.listed {
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
		// The kernel reads PAGE_SIZE at a time and may split a number there.
		for few := range slices.Chunk(tids, 200) {
			if err := s.list(few...); err != nil {
				return err
			}
		}
	}
	return nil
}

// list adds threads to those whose events are recorded.
func (s *Session) list(tids ...int) error {
	return s.fs.files.Append(s.file("set_event_pid"), strings.Trim(fmt.Sprint(tids), "[]")+"\n")
}

// Spawn calls start on a thread whose events are recorded, as are its process's from the first on.
func (s *Session) Spawn(start func() error) error {
	if !s.listed {
		return start()
	}
	done := make(chan error)
	go func() {
		// The thread, locked to this goroutine, ends with it, and so does its place on the list.
		runtime.LockOSThread()
		err := s.list(unix.Gettid())
		if err == nil {
			err = start()
		}
		done <- err
	}()
	return <-done
}

// maxKernelEvents is more than any group has: syscalls has 720 on Linux 6.18.
const maxKernelEvents = 1000

// KernelEvents finds the events of this kernel that patterns match, GROUP:EVENT each, with
// * ? and [...] as in a shell, in the order of the patterns and, of one, of their names.
// Probes that anybody has defined are not among them: one that is enabled here
// when its owner deletes it can take the kernel down (see [FS.Sweep]).
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
		matching := slices.DeleteFunc(slices.Clone(known), func(name string) bool {
			match, _ := path.Match(p, name)
			return !match
		})
		if len(matching) == 0 {
			return nil, unknownEvent(p, nearestEvents(p, known, 3))
		}
		for _, name := range matching {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	if len(found) > maxKernelEvents {
		return nil, fmt.Errorf("find kernel events %q: %d match, at most %d can be read", strings.Join(patterns, ","), len(found), maxKernelEvents)
	}
	return found, nil
}

// unknownEvent is the error of a pattern that matches no event; near are those most like it.
func unknownEvent(pattern string, near []string) error {
	text := fmt.Sprintf("find kernel event %q: this kernel has none of that name", pattern)
	if len(near) > 0 {
		text += "; nearest: " + strings.Join(near, ", ")
	}
	return errors.New(text)
}

// dynamicEvents are the events that somebody has defined, "GROUP/EVENT" each.
func (f *FS) dynamicEvents() map[string]bool {
	names := make(map[string]bool)
	for _, file := range []string{"uprobe_events", "kprobe_events", "dynamic_events"} {
		b, _ := f.files.Read(f.path(file)) // without, the kernel has no such events
		for line := range strings.Lines(string(b)) {
			names[eventOf(line)] = true
		}
	}
	return names
}

// nearestEvents are those of names that are most like text.
func nearestEvents(text string, names []string, n int) []string {
	_, word, _ := strings.Cut(text, ":")
	far := make(map[string]int)
	for _, name := range names {
		_, event, _ := strings.Cut(name, ":")
		far[name] = printable.Distance(text, name)
		if strings.Contains(event, strings.Trim(word, "*")) && len(word) > 2 {
			far[name] = min(far[name], 2) // the group is wrong, or half of the name is missing
		}
	}
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return far[name] > 2+len(text)/5 })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Or(far[a]-far[b], len(a)-len(b)) })
	return near[:min(n, len(near))]
}
