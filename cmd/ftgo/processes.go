package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/ftgo/ftgo/tracefs"
)

// processAlive: a process that may not be signalled lives, too; a zombie does not.
func processAlive(pid int) bool {
	if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// "PID (name) STATE ...", and the name may hold anything.
	_, state, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// checkProcesses refuses processes that are not there, or that run another file than
// the first: they would be waited for, and never be seen.
func checkProcesses(o *options) error {
	for _, pid := range o.pids {
		if !processAlive(pid) {
			return fmt.Errorf("process %d: no such process", pid)
		}
		if o.binary != exeOf(o.pids[0]) {
			continue // it may be a library
		}
		first, err := os.Stat(o.binary)
		if err != nil {
			return fmt.Errorf("process %d: %w", o.pids[0], err)
		}
		exe, err := os.Stat(exeOf(pid))
		if err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if !os.SameFile(first, exe) {
			return usage("process %d runs another file than process %d", pid, o.pids[0])
		}
	}
	return nil
}

func exeOf(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// keep tells the processes asked for from others.
func keep(pids []int) func(pid int) bool {
	if len(pids) == 0 {
		return nil
	}
	return func(pid int) bool { return slices.Contains(pids, pid) }
}

// processOf returns how to find the process of a thread. One that is gone and that the
// kernel did not name belongs to the only process there can be, if that is so.
func processOf(s *tracefs.Session, pids []int) func(tid, printed int) int {
	if len(pids) != 1 {
		return s.Process
	}
	return func(tid, printed int) int {
		if pid := s.Process(tid, printed); pid != 0 {
			return pid
		}
		return pids[0]
	}
}
