package tracefs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

// perf is the part of a session that arms events in single processes ([Options].Alone), by perf_event_open. The kernel
// then places breakpoints in the memory of these processes only, so that other processes of the file run at full speed. It
// counts the hits of each site in uprobe_profile, but records nothing (kernel/trace/trace_uprobe.c, uprobe_perf_open and
// uprobe_dispatcher).
//
// Three properties of the kernel matter (Linux 6.18):
//
//   - The counter of a site contains all hits of the instruction. If another program probes the same instruction in other
//     processes, the counter contains their hits, too. Others finds such programs.
//   - A descriptor names a thread. The process keeps the breakpoints while any such thread lives. If such a thread executes
//     a program, the kernel probes that program. So each thread gets a descriptor, or inherits one from its creator.
//   - An event belongs either to tracefs or to perf. The second user gets EINTR (probe_event_enable).
//
// DANGER: checkDisabled does not see that perf has armed an event. So the session closes all descriptors before it deletes
// events. A killed process has closed them when it has ended, and Sweep leaves living processes alone.
type perf struct {
	pids  []int            // of Options.Alone
	only  bool             // Arm arms events in these processes only
	fds   map[string][]int // the descriptors of each armed event, by name
	watch int              // an inotify descriptor that gets the writes to uprobe_events, or -1
	why   error            // why the session does not arm single processes
}

func (o osFiles) Perf(idFile, filter string, tid int) (int, error) {
	b, err := o.Read(idFile)
	if err != nil {
		return -1, err
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return -1, fmt.Errorf("parse %s: %w", idFile, err)
	}
	return procfs.OpenTracepoint(id, filter, tid)
}

func (osFiles) Watch(path string) (fd int, err error) {
	if fd, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err == nil {
		_, err = unix.InotifyAddWatch(fd, path, unix.IN_MODIFY)
	}
	if err != nil {
		err = &os.PathError{Op: "watch", Path: path, Err: err}
	}
	return fd, err
}

// armFirst arms all events of a new session. If they can't be armed in single processes, it arms them in all.
func (s *Session) armFirst(ctx context.Context) (err error) {
	if s.only {
		err = runSteps(
			func() error { s.watch, err = s.fs.files.Watch(s.fs.path("uprobe_events")); return err },
			s.checkOthers,
			func() error { return s.openForThreads(forks, s.fs.path("events", "task", forks, "id"), copiesMemory) },
			func() error { return s.Arm(ctx, s.events) },
			// Of two sessions that start together, at least one has found the other. Usually both do.
			s.Others,
		)
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.why = err
		s.Share()
		if err := s.disableAll(s.events); err != nil {
			return err
		}
	}
	return s.Arm(ctx, s.events)
}

// Alone reports whether Arm arms events in single processes. If not, err says why; it is nil if Options.Alone is empty.
func (s *Session) Alone() (is bool, err error) { return s.only, s.why }

// Share makes Arm arm events in all processes from now on. Events that are armed in single processes stay so until Disarm.
func (s *Session) Share() { s.only = false }

// ArmsAlone reports whether an event is armed in single processes, if Options.Alone is set. Perf can't record.
func (e *Event) ArmsAlone() bool { return len(e.Args) == 0 && !e.Recorded }

// forks is the kernel's event of a new thread or process, and copiesMemory its filter for processes that do not share
// their parent's memory: CLONE_VM, from include/uapi/linux/sched.h, is not set. Such a child has the breakpoints, too,
// until it executes a program. The first hit of each is counted, and removes it (uprobe_dispatcher).
const forks, copiesMemory = "task_newtask", "!(clone_flags & 0x100)"

// Forked returns the number of children that got a copy of the memory of the session's processes.
func (s *Session) Forked() (n uint64) {
	for _, fd := range s.fds[forks] {
		var count [8]byte
		_, _ = readNow(fd, count[:]) // without an answer, count is 0
		n += binary.NativeEndian.Uint64(count[:])
	}
	return n
}

// openForThreads opens an event for all threads of the session's processes. It lists threads until it finds no new one,
// because a thread that starts meanwhile may not have inherited the event. A thread that has ended is left out.
func (s *Session) openForThreads(name, idFile, filter string) error {
	known := make(map[int]bool)
	for _, pid := range s.pids {
		for found := true; found; {
			tids, _ := procfs.Threads(pid) // empty for a process that has ended
			found = false
			for _, tid := range tids {
				if known[tid] {
					continue
				}
				fd, err := s.fs.files.Perf(idFile, filter, tid)
				if err == nil {
					s.fds[name] = append(s.fds[name], fd)
				} else if !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("arm event %s: %w", name, err)
				}
				known[tid], found = true, true
			}
		}
	}
	return nil
}

// closeForThreads closes what openForThreads has opened. closed is false if it is nothing. close(2) returns when the kernel
// has removed the breakpoints, which takes about 80 ms.
func (s *Session) closeForThreads(name string) (closed bool, err error) {
	fds := s.fds[name]
	delete(s.fds, name)
	var errs []error
	for _, fd := range fds {
		errs = append(errs, unix.Close(fd))
	}
	return len(fds) > 0, errors.Join(errs...)
}

// Others returns an error that names another program whose definitions are of the session's instructions. It reads the
// definitions only if they were written since the last call.
func (s *Session) Others() error {
	var written [4096]byte // one event, because the kernel merges equal ones
	if n, _ := readNow(s.watch, written[:]); n == 0 {
		return nil
	}
	return s.checkOthers()
}

// checkOthers reads the definitions. An error of the read is one of the session's, because nothing is known then.
func (s *Session) checkOthers() error {
	own := make(map[uint64]bool)
	for i := range s.events {
		for _, offset := range s.events[i].Sites {
			own[offset] = own[offset] || s.events[i].ArmsAlone()
		}
	}
	for d, err := range s.foreign() {
		if err != nil {
			return err
		}
		_, missing := os.Stat(d.path) // a path that leads to no file here may be one of another mount namespace
		if !own[d.offset] || missing == nil && !procfs.SameFile(d.path, s.target.Path) {
			continue
		}
		who := fmt.Sprintf("event %q", d.event)
		if d.owner.PID != 0 {
			who = fmt.Sprintf("process %d, another ftgo", d.owner.PID)
		}
		return fmt.Errorf("the same instructions are probed by %s", who)
	}
	return nil
}
