// Package procfs reads what /proc tells of processes.
package procfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Stat is what /proc/PID/stat tells.
type Stat struct {
	Parent int
	// Started is when, in clock ticks after boot: it tells processes of one number apart.
	Started uint64
}

// statFields are those of /proc/PID/stat from the third on: "PID (name) STATE PPID ...", and
// the name may hold anything (proc_pid_stat(5)).
func statFields(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])), nil
}

// ReadStat reads of a process that lives. A zombie does not, unless it is but the first thread
// that has ended, for good or because another is about to execute a program in its place.
func ReadStat(pid int) (stat Stat, alive bool) {
	fields, err := statFields(pid)
	if err != nil || len(fields) < 20 {
		return stat, false
	}
	if threads, _ := strconv.Atoi(fields[17]); (fields[0] == "Z" || fields[0] == "X") && threads < 2 {
		return stat, false
	}
	stat.Parent, _ = strconv.Atoi(fields[1])
	stat.Started, _ = strconv.ParseUint(fields[19], 10, 64)
	return stat, true
}

// Alive tells whether a process lives, see [ReadStat].
func Alive(pid int) bool {
	_, alive := ReadStat(pid)
	return alive
}

// Exe is where the file of a process is.
func Exe(pid int) string { return fmt.Sprintf("/proc/%d/exe", Executing(pid)) }

// Executing is a thread of a process that has its memory and its file: the first, which the
// process is named by, but for where that has ended before others. /proc/TID is like /proc/PID,
// though not listed (proc(5)).
func Executing(pid int) (tid int) {
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); !errors.Is(err, fs.ErrNotExist) {
		return pid
	}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // what was read will do
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", tid)); err == nil {
			return tid
		}
	}
	return pid
}

// All are the numbers of all processes.
func All() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// Running are the processes that run a file.
func Running(file os.FileInfo) (running []int) {
	pids, _ := All() // what was read will do
	for _, pid := range pids {
		if exe, err := os.Stat(Exe(pid)); err == nil && os.SameFile(exe, file) {
			running = append(running, pid)
		}
	}
	return running
}
