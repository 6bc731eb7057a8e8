// Package procfs reads the state of processes from /proc: threads, memory, files and namespaces, the breakpoints in a
// probed process, and containers. For containers it needs no daemon: their ids are in the paths of control groups, and
// their names in files of the runtimes. No other package reads /proc.
package procfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Self stands for this process, which may have no number in a /proc of another pid namespace. It differs from 0, which
// stands for an unknown process.
const Self = -1

// folder returns the folder of a process in /proc.
func folder(pid int) string {
	if pid == Self {
		return "/proc/self"
	}
	return "/proc/" + strconv.Itoa(pid)
}

// All returns the numbers of all processes.
func All() (pids []int, err error) { return numbers("/proc") }

// Threads returns the numbers of a process's threads.
func Threads(pid int) (tids []int, err error) { return numbers(folder(pid) + "/task") }

// numbers returns the names in a folder that are numbers. After an error, it returns the numbers that it has read until then.
func numbers(dir string) (found []int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			found = append(found, n)
		}
	}
	return found, err
}

// Name returns the name of a process, as shown by ps -o comm.
func Name(pid int) (string, error) {
	name, err := os.ReadFile(folder(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n"), err
}

// SelfPath returns the path by which this process reads a file that another process reads as /proc/self/NAME.
func SelfPath(pid int, name string) string { return folder(pid) + "/" + name }

// Exe returns the path of the link to the file that a process executes.
func Exe(pid int) string { return folder(LiveThread(pid)) + "/exe" }

// Programs are the processes that execute a file at one moment.
type Programs []Program

// Program is a process and the file that it executes.
type Program struct {
	PID  int
	Path string // the path of the file
	link string // /proc/TID/exe
	file os.FileInfo
}

// RunningPrograms returns all processes that execute a file. Threads of the kernel execute no file, and only root sees the
// files of other users' processes.
func RunningPrograms() (all Programs) {
	pids, _ := All() // an incomplete list is good enough
	for _, pid := range pids {
		tid, path := liveThreadExe(pid)
		link := folder(tid) + "/exe"
		if path == "" {
			continue
		} else if file, err := os.Stat(link); err == nil { // else the process has just ended
			all = append(all, Program{pid, path, link, file})
		}
	}
	return all
}

// Running returns the processes that execute the file at a path.
func (all Programs) Running(path string) (running []int) {
	file, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, p := range all {
		if sameFile(path, p.link, file, p.file) {
			running = append(running, p.PID)
		}
	}
	return running
}

// Running returns the processes that now execute the file at a path.
func Running(path string) []int { return RunningPrograms().Running(path) }

// Replaced returns the processes that execute a file that was removed or replaced, and had the absolute path before.
func Replaced(path string) (running []int) {
	for _, p := range RunningPrograms() {
		if former, deleted := CutDeleted(p.Path); deleted && former == path {
			running = append(running, p.PID)
		}
	}
	return running
}

// CutDeleted returns the former path of a file, and whether it was removed or replaced (d_path in
// fs/d_path.c, Linux 6.12).
func CutDeleted(path string) (former string, deleted bool) {
	return strings.CutSuffix(path, " (deleted)")
}

// Named returns the processes, except this process, that execute a file of this name and for which among returns true.
// If it finds no such process, it compares the names of processes instead of files. Files come first, because a shell
// that runs a script has the script's name.
func (all Programs) Named(name string, among func(pid int) bool) (found []int) {
	var others []int
	for _, p := range all {
		if p.PID == os.Getpid() || !among(p.PID) {
			continue
		} else if former, _ := CutDeleted(p.Path); filepath.Base(former) == name {
			found = append(found, p.PID)
		} else {
			others = append(others, p.PID)
		}
	}
	if len(found) > 0 {
		return found
	}
	return slices.DeleteFunc(others, func(pid int) bool {
		own, err := Name(pid)
		return err != nil || own != name
	})
}

// LiveThread returns a thread of a process that still has the process's memory and file. This is the first thread,
// whose number is the process's, or another one if the first has ended. /proc/TID exists for each thread, although
// /proc does not list it (proc(5)).
func LiveThread(pid int) (tid int) {
	tid, _ = liveThreadExe(pid)
	return tid
}

// liveThreadExe is LiveThread, and also returns the path of the file. path is "" without a file or permission.
func liveThreadExe(pid int) (tid int, path string) {
	path, err := os.Readlink(folder(pid) + "/exe")
	if !errors.Is(err, fs.ErrNotExist) {
		return pid, path
	}
	// The number of links of the folder task is the number of threads plus 2 (proc_task_getattr in fs/proc/base.c, Linux 6.12).
	var task syscall.Stat_t
	if syscall.Stat(folder(pid)+"/task", &task) == nil && task.Nlink <= 3 {
		return pid, ""
	}
	tids, _ := Threads(pid) // an incomplete list is good enough
	for _, tid := range tids {
		if path, err := os.Readlink(folder(tid) + "/exe"); err == nil {
			return tid, path
		}
	}
	return pid, ""
}

// Executes reports whether a process executes the file at a path, or has mapped it as a library.
func Executes(pid int, path string) bool {
	if SameFile(path, Exe(pid)) {
		return true
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	mapped, _ := Mappings(pid) // empty for a process that has just ended
	return ok && slices.ContainsFunc(mapped, func(m Mapping) bool { return m.Inode == stat.Ino })
}

// InitialPIDNamespace is the inode of the initial pid namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO).
const InitialPIDNamespace = 0xeffffffc

// Namespace returns the inode of a process's namespace of a kind, such as "pid" or "mnt". It returns 0 if it can't be
// read, as for a zombie, or for a kind that the kernel does not have.
func Namespace(pid int, kind string) (inode uint64) {
	link, _ := os.Readlink(folder(pid) + "/ns/" + kind)
	_, _ = fmt.Sscanf(link, kind+":[%d]", &inode) // namespaces(7); inode stays 0 after an error
	return inode
}

// PIDNamespace returns the inode of this process's pid namespace. It returns 0 for the initial one, and if it can't be
// read. It reads the inode only once.
var PIDNamespace = sync.OnceValue(func() uint64 {
	if own := Namespace(Self, "pid"); own != InitialPIDNamespace {
		return own
	}
	return 0
})

// ForeignNumbers reports whether /proc has other process numbers than trace events. Events have the numbers of the
// initial pid namespace, and /proc may show a container's.
func ForeignNumbers() bool { return PIDNamespace() != 0 }

// Filter selects processes. The zero Filter selects all that run the binary.
type Filter struct {
	PIDs     []int
	OnlyUser bool // no other process runs the binary, so that the kernel's counters have only hits of PIDs
	Fork     bool // select children of PIDs, too
	// Among reports whether a process is selected. It may return false for a process that has ended. Nil selects all.
	Among func(pid int) bool
}

// All reports whether all processes that run the binary are selected, and so all hits in the kernel's counters.
func (f *Filter) All() bool {
	return (f.OnlyUser || len(f.PIDs) == 0) && !f.Fork && f.Among == nil
}
