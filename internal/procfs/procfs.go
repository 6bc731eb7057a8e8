// Package procfs reads the state of processes from /proc: threads, memory, files
// and namespaces, the kernel's breakpoints in a probed process, and its containers. It asks no daemon for containers:
// ids are in the paths of control groups, and names in files of the runtimes. No other package reads /proc.
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

// Self stands for this process, which has no number in /proc if that belongs to another pid
// namespace. It differs from 0, an unknown process, which /proc does not have.
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

// numbers returns the names in a folder that are numbers. With an error, it returns those that it read
// before.
func numbers(dir string) (found []int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			found = append(found, n)
		}
	}
	return found, err
}

// Name returns the name of a process, as ps -o comm shows it.
func Name(pid int) (string, error) {
	name, err := os.ReadFile(folder(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n"), err
}

// Own returns the path of a process's /proc/self/NAME.
func Own(pid int, name string) string { return folder(pid) + "/" + name }

// Exe returns the link to the file that a process executes.
func Exe(pid int) string { return folder(Executing(pid)) + "/exe" }

// Programs are the processes that run a file, as found at one moment.
type Programs []Program

// Program is a process, and the file that it runs.
type Program struct {
	PID  int
	Path string // of the file
	link string // a path that leads to the file
	file os.FileInfo
}

// Look returns all processes with a file, reading each once. Threads of the kernel run no file, and only root sees the files
// of other users' processes.
func Look() (all Programs) {
	pids, _ := All() // an incomplete list will do
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

// Running returns the processes that run the file at a path.
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

// Running returns the processes that run the file at a path now.
func Running(path string) []int { return Look().Running(path) }

// Replaced returns the processes that run a file which had this absolute path before it was removed or replaced.
func Replaced(path string) (running []int) {
	for _, p := range Look() {
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

// Named returns the processes among some, except this one, whose file has a name. If none has, it returns processes that have
// the name themselves: they come last because a shell that runs a script gets the script's name.
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

// Executing returns a thread of a process that has its memory and its file: the first one, whose number is the
// process's, or, if that has ended, another one. /proc/TID is like /proc/PID,
// but not listed (proc(5)).
func Executing(pid int) (tid int) {
	tid, _ = executing(pid)
	return tid
}

// executing is Executing with the path of the file, "" if it has no file or may not be read.
func executing(pid int) (tid int, path string) {
	path, err := os.Readlink(folder(pid) + "/exe")
	if !errors.Is(err, fs.ErrNotExist) || alone(pid) {
		return pid, path
	}
	tids, _ := Threads(pid) // an incomplete list will do
	for _, tid := range tids {
		if path, err := os.Readlink(folder(tid) + "/exe"); err == nil {
			return tid, path
		}
	}
	return pid, ""
}

// alone reports whether a process has only one thread, as threads of the kernel do: its folder of
// threads has a link for each, and two more (proc_task_getattr in fs/proc/base.c, Linux 6.12).
func alone(pid int) bool {
	var stat syscall.Stat_t
	return syscall.Stat(folder(pid)+"/task", &stat) == nil && stat.Nlink <= 3
}

// Executes reports whether a process runs the file at a path, or has it mapped as a library.
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

// OpenFiles visits the open files of processes, by their present paths. Only root sees
// other users' files.
func OpenFiles(visit func(pid int, path string)) {
	pids, _ := All() // an incomplete list will do
	for _, pid := range pids {
		dir := folder(pid) + "/fd/"
		fds, _ := numbers(dir) // empty for a process that has just ended
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

// Namespace returns the inode of one of a process's namespaces, "pid" or "mnt", 0 if it is not
// known: as for a zombie, or for a kind that an old kernel lacks.
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

// OwnPIDs returns the inode of the pid namespace of this process: 0 for the initial one, and if
// it is not known. It reads it once.
var OwnPIDs = sync.OnceValue(func() uint64 {
	if own := Namespace(Self, "pid"); own != InitialPIDs {
		return own
	}
	return 0
})

// ForeignNumbers reports whether the process numbers in /proc here differ from those by
// which the kernel traces processes: the kernel uses the first pid namespace, not a container's.
func ForeignNumbers() bool { return OwnPIDs() != 0 }
