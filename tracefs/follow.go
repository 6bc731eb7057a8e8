package tracefs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// beginFollowing makes it possible to follow processes.
func (s *Session) beginFollowing() error {
	// Where set_event_pid is but event-fork is not, threads started from now on would be
	// missed in silence.
	if !s.features.EventPID || !s.features.EventFork || !s.features.Instances {
		return fmt.Errorf("record events of single processes: %w (it takes event-fork, since Linux 4.9)", ErrNotSupported)
	}
	return s.writeFile("options/event-fork", "1")
}

// follow adds the threads of a process to those whose events are recorded.
//
// set_event_pid takes thread ids. event-fork adds the threads that they
// start from now on; the list is read until it holds no new one, so that no thread
// slips through.
//
// It is not for probes: before Linux 5.8, what a process hits after another of its threads
// than the first has executed a program is missing. That thread takes over the first one's
// number, which the kernel strikes off the list when the first one is freed
// (kernel/trace/trace_events.c, event_filter_pid_sched_process_exit; fs/exec.c, de_thread).
// Since 5.8 the two change numbers, and what is struck off is the other one (commit
// 6b03d1304a32, "proc: Ensure we see the exit of each process tid exactly once").
func (s *Session) follow(pid int) error {
	known := make(map[int]bool)
	for {
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
			if err := s.fs.tree.Ops.Append(s.file("set_event_pid"), strings.Trim(fmt.Sprint(few), "[]")+"\n"); err != nil {
				return files.Refused("write", s.file("set_event_pid"), err)
			}
		}
	}
}
