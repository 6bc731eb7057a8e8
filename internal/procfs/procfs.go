// Package procfs reads what /proc tells of processes: their states, threads, memory, files
// and namespaces, what the kernel has put into one that is probed, and which container each is in: no daemon is
// asked, as ids are in the paths of control groups, and names in files that runtimes keep. No other package reads /proc.
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

// Self stands for this process, which has no number where /proc is that of another pid
// namespace. It is not 0, which is a process that is not known: /proc has nothing of that.
const Self = -1

// folder is what /proc has of a process.
func folder(pid int) string {
	if pid == Self {
		return "/proc/self"
	}
	return "/proc/" + strconv.Itoa(pid)
}

// All are the numbers of all processes.
func All() (pids []int, err error) { return numbers("/proc") }

// Threads are the numbers of a process's threads.
func Threads(pid int) (tids []int, err error) { return numbers(folder(pid) + "/task") }

// numbers are the names in a folder that are numbers. Those that were read before an error
// are returned with it.
func numbers(dir string) (found []int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			found = append(found, n)
		}
	}
	return found, err
}

// Name is the name of a process, as ps -o comm shows it.
func Name(pid int) (string, error) {
	name, err := os.ReadFile(folder(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n"), err
}

// Own is the path of what a process calls /proc/self/NAME.
func Own(pid int, name string) string { return folder(pid) + "/" + name }

// Exe is where the file of a process is.
func Exe(pid int) string { return folder(Executing(pid)) + "/exe" }

// Programs are the processes that run a file, as one look at all of them has found them.
type Programs []Program

// Program is a process, and the file that it runs.
type Program struct {
	PID  int
	Path string // of the file
	link string // leads to it
	file os.FileInfo
}

// Look looks at each process there is, just once. A thread of the kernel runs no file, and somebody else's is shown
// to root alone.
func Look() (all Programs) {
	pids, _ := All() // what was read will do
	for _, pid := range pids {
		tid, path := executing(pid)
		link := folder(tid) + "/exe"
		if path == "" {
			continue
		} else if file, err := os.Stat(link); err == nil { // else it has just ended
			all = append(all, Program{pid, path, link, file})
		}
	}
	return all
}

// Running are the processes that run the file at a path.
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

// Running are the processes that run the file at a path now.
func Running(path string) []int { return Look().Running(path) }

// Replaced are the processes that run a file which had this absolute path, and has it no more.
func Replaced(path string) (running []int) {
	for _, p := range Look() {
		if former, deleted := CutDeleted(p.Path); deleted && former == path {
			running = append(running, p.PID)
		}
	}
	return running
}

// CutDeleted is the path that a file had, and whether it was removed or replaced (d_path in
// fs/d_path.c, Linux 6.12).
func CutDeleted(path string) (former string, deleted bool) {
	return strings.CutSuffix(path, " (deleted)")
}

// Named are the processes among some, this one aside, whose file has a name, or, if there are none, whose own
// name that is: a shell that runs a script of the name is not what was meant.
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

// Executing is a thread of a process that has its memory and its file: the first, which the
// process is named by, but for where that has ended before others. /proc/TID is like /proc/PID,
// though not listed (proc(5)).
func Executing(pid int) (tid int) {
	tid, _ = executing(pid)
	return tid
}

// executing is Executing with the path of the file, "" where there is none, or none to be seen.
func executing(pid int) (tid int, path string) {
	path, err := os.Readlink(folder(pid) + "/exe")
	if !errors.Is(err, fs.ErrNotExist) || alone(pid) {
		return pid, path
	}
	tids, _ := Threads(pid) // what was read will do
	for _, tid := range tids {
		if path, err := os.Readlink(folder(tid) + "/exe"); err == nil {
			return tid, path
		}
	}
	return pid, ""
}

// alone tells whether a process has no other thread than the first, as those of the kernel: its folder of
// threads has a link for each, and two (proc_task_getattr in fs/proc/base.c, Linux 6.12).
func alone(pid int) bool {
	var stat syscall.Stat_t
	return syscall.Stat(folder(pid)+"/task", &stat) == nil && stat.Nlink <= 3
}

// Executes tells whether a process runs the file at a path, or has it mapped as a library.
func Executes(pid int, path string) bool {
	if SameFile(path, Exe(pid)) {
		return true
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	mapped, _ := Mappings(pid) // none of a process that has just ended
	return ok && slices.ContainsFunc(mapped, func(m Mapping) bool { return m.Inode == stat.Ino })
}

// OpenFiles visits the files that processes have open, by the paths that they have now. Other
// users' are shown to root alone.
func OpenFiles(visit func(pid int, path string)) {
	pids, _ := All() // what was read will do
	for _, pid := range pids {
		dir := folder(pid) + "/fd/"
		fds, _ := numbers(dir) // none of a process that has just ended
		for _, fd := range fds {
			if path, err := os.Readlink(dir + strconv.Itoa(fd)); err == nil {
				visit(pid, path)
			}
		}
	}
}

// InitialPIDs is the inode of the first pid namespace (include/linux/proc_ns.h,
// PROC_PID_INIT_INO).
const InitialPIDs = 0xeffffffc

// Namespace is the inode of one of a process's namespaces, "pid" or "mnt", 0 if it can't be
// told: that of a zombie can't, and old kernels have fewer kinds.
func Namespace(pid int, kind string) (inode uint64) {
	link, _ := os.Readlink(folder(pid) + "/ns/" + kind)
	return parseNamespace(link, kind)
}

// parseNamespace reads "KIND:[INODE]" (namespaces(7)).
func parseNamespace(link, kind string) (inode uint64) {
	if n, err := fmt.Sscanf(link, kind+":[%d]", &inode); n != 1 || err != nil {
		return 0
	}
	return inode
}

// OwnPIDs is the inode of the pid namespace of this process: 0 for the initial one, and where
// it can't be told. It is found out once.
var OwnPIDs = sync.OnceValue(func() uint64 {
	if own := Namespace(Self, "pid"); own != InitialPIDs {
		return own
	}
	return 0
})

// ForeignNumbers tells that what /proc shows here are other processes than those of the numbers
// that the kernel traces processes by: those of the first pid namespace, not a container's.
func ForeignNumbers() bool { return OwnPIDs() != 0 }
