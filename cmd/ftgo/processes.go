package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// processStat is what /proc/PID/stat tells.
type processStat struct {
	parent int
	// started is when, in clock ticks after boot: it tells processes of one number apart.
	started uint64
}

// readStat reads of a process that lives. A zombie does not, unless it is but the first thread
// that has ended, for good or because another is about to execute a program in its place.
func readStat(pid int) (stat processStat, alive bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat, false
	}
	// "PID (name) STATE PPID ...", and the name may hold anything (proc_pid_stat(5)).
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return stat, false
	}
	if threads, _ := strconv.Atoi(fields[17]); (fields[0] == "Z" || fields[0] == "X") && threads < 2 {
		return stat, false
	}
	stat.parent, _ = strconv.Atoi(fields[1])
	stat.started, _ = strconv.ParseUint(fields[19], 10, 64)
	return stat, true
}

func processAlive(pid int) bool {
	_, alive := readStat(pid)
	return alive
}

// checkProcesses refuses processes that are not there, or that run another file than
// the first: they would be waited for, and never be seen.
func checkProcesses(o *options) error {
	if found := tracefs.ProcessNumbers(); len(o.pids) > 0 && found.State == tracefs.Warning {
		return &statusError{exitKernel, fmt.Errorf("-p %d: pid namespace: %s (%s)", o.pids[0], found.Text, found.Fix)}
	}
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
func processOf(s *tracefs.Session, o *options) func(tid, printed int) int {
	if len(o.pids) != 1 || o.fork {
		return s.Process
	}
	pids := o.pids
	return func(tid, printed int) int {
		if pid := s.Process(tid, printed); pid != 0 {
			return pid
		}
		return pids[0]
	}
}

// checkTargets looks after the processes, and ends the run when all processes of -p are gone.
func (t *tracing) checkTargets() error {
	t.noticeReplaced()
	t.forgetEnded()
	if len(t.opt.pids) == 0 {
		return nil
	}
	for _, pid := range t.opt.pids {
		if processAlive(pid) {
			return nil
		}
	}
	if t.kernel.anyAlive() {
		return nil
	}
	if len(t.opt.pids) == 1 {
		t.env.say("process %d has ended", t.opt.pids[0])
	} else {
		t.env.say("the processes have ended")
	}
	return errEnough
}

// holdBinary keeps others from writing to what is going to be probed.
func holdBinary(b *offsets.Binary, o *options) error {
	err := b.Hold()
	switch {
	case !errors.Is(err, offsets.ErrBeingWritten):
		return err
	case o.force:
		return nil
	}
	return fmt.Errorf("%w (--force goes on)", err)
}

// writtenTo is why a run has ended.
func writtenTo(b *offsets.Binary) error {
	return fmt.Errorf("%s: somebody writes to it: the probes were removed, which would be in wrong places", b.Path())
}

// processes are the numbers of all processes.
func processes() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// processesOf are the processes that run a file.
func processesOf(file os.FileInfo) (running []int) {
	pids, _ := processes() // what was read will do
	for _, pid := range pids {
		if exe, err := os.Stat(exeOf(pid)); err == nil && os.SameFile(exe, file) {
			running = append(running, pid)
		}
	}
	return running
}
