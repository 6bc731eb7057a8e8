package target

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/ftgo/ftgo/internal/procfs"
	"golang.org/x/sys/unix"
)

// mappedIdentity returns the device and the inode of a mapped file as one text, in the format of /proc/PID/maps.
func mappedIdentity(m procfs.Mapping) string { return fmt.Sprintf("%s %d", m.Device, m.Inode) }

// findMapped opens the file with the name that a process has mapped. proc is the process's folder in /proc. It opens the
// mapped file itself, because the path in /proc/PID/maps may lead to another file: the mapped file may have been replaced,
// a symbolic link leads elsewhere outside of a container, and the maps spell a newline "\012", which may also be a part of
// another file's name.
func findMapped(name string, pid int, proc string) (path string, file *os.File, err error) {
	found := make(map[string]procfs.Mapping) // by path without " (deleted)"
	all, err := procfs.MappedFiles(proc)
	if err != nil {
		return "", nil, fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	for _, at := range all {
		path, _ := procfs.CutDeleted(at.Path)
		if _, ok := match(name, path); ok {
			found[path] = at
		}
	}
	path, err = chooseLibrary(name, slices.Collect(maps.Keys(found)), func(path string) string { return mappedIdentity(found[path]) })
	if err != nil {
		return "", nil, err
	}
	chosen, ok := found[path]
	if !ok {
		chosen, ok = linkedMapping(proc, all, name)
	}
	if !ok {
		return "", nil, fmt.Errorf("find %q: process %d has no such file mapped", name, pid)
	}
	if file, err = openMapped(proc, chosen); err != nil {
		return "", nil, fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	return shownPath(proc, chosen, file), file, nil
}

// mappedPaths returns the possible paths of a mapped file. The first is its path below the root of the process. The second
// is the path in /proc/PID/maps. It is right if the process's root is a folder below ftgo's root (chroot(2)).
func mappedPaths(proc string, at procfs.Mapping) [2]string {
	path, _ := procfs.CutDeleted(at.Path)
	return [2]string{filepath.Join(proc, "root", path), path}
}

// shownPath returns a path that leads to the file. If no path of the mapped file does, it returns the link of the mapping in
// /proc.
func shownPath(proc string, at procfs.Mapping, file *os.File) string {
	mapped, err := file.Stat()
	for _, path := range mappedPaths(proc, at) {
		if named, nerr := os.Stat(path); err == nil && nerr == nil && os.SameFile(named, mapped) {
			return path
		}
	}
	return filepath.Join(proc, at.Link())
}

// linkedMapping finds a mapped file by a symbolic link with the name. The link is in the folder of the file and leads to the
// file: libc.so.6 leads to libc-2.31.so.
func linkedMapping(proc string, all []procfs.Mapping, name string) (found procfs.Mapping, ok bool) {
	for _, at := range all {
		for _, path := range mappedPaths(proc, at) {
			to, err := os.Readlink(filepath.Join(filepath.Dir(path), name))
			if err == nil && filepath.Base(to) == filepath.Base(path) {
				return at, true
			}
		}
	}
	return found, false
}

// openMapped opens a mapped file by its link in /proc/PID/map_files. To follow the link takes CAP_SYS_ADMIN, and the link is
// missing on Linux before 4.3 without CONFIG_CHECKPOINT_RESTORE. If the link can't be followed, openMapped opens the file by
// its path below the process's root, and checks that it is the mapped file.
func openMapped(proc string, at procfs.Mapping) (*os.File, error) {
	path, deleted := procfs.CutDeleted(at.Path)
	file, err := os.OpenFile(filepath.Join(proc, at.Link()), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		// Another file may have been mapped there.
		if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd())); err == nil {
			if now, _ := procfs.CutDeleted(name); now == path {
				return file, nil
			}
		}
		file.Close()
		return nil, fmt.Errorf("%q is no longer mapped", path)
	}
	if !deleted {
		file, _, err = procfs.OpenBelow(filepath.Join(proc, "root"), path)
	}
	if err != nil {
		return nil, err
	}
	if now, mapped := identity(file), mappedIdentity(at); now != mapped {
		file.Close()
		return nil, fmt.Errorf("%q is not the file that is mapped: device and inode %s, not %s", path, now, mapped)
	}
	return file, nil
}

// identity returns the device and the inode of a file in the format of mappedIdentity, or "" if they are not known.
func identity(f *os.File) string {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%02x:%02x ", unix.Major(st.Dev), unix.Minor(st.Dev)) + strconv.FormatUint(st.Ino, 10)
}
