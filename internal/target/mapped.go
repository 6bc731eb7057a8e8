package target

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	all, err := procfs.MappedFiles(proc)
	if err != nil {
		return "", nil, fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	found := make(map[string]procfs.Mapping) // by path without " (deleted)"
	linked := ""                             // libc-2.31.so, if the link libc.so.6 beside it has the name
	for _, at := range all {
		path, _ := procfs.CutDeleted(at.Path)
		found[path] = at
		for _, place := range mappedPaths(proc, path) {
			to, err := os.Readlink(filepath.Join(filepath.Dir(place), name))
			if err == nil && filepath.Base(to) == filepath.Base(path) {
				linked = path
			}
		}
	}
	path, err = chooseLibrary(name, slices.Collect(maps.Keys(found)), func(path string) string { return mappedIdentity(found[path]) })
	if err != nil {
		return "", nil, err
	}
	path = cmp.Or(path, linked)
	chosen, ok := found[path]
	if !ok {
		return "", nil, fmt.Errorf("find %q: process %d has no such file mapped", name, pid)
	}
	if file, err = openMapped(proc, chosen); err != nil {
		return "", nil, fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	for _, place := range mappedPaths(proc, path) {
		if procfs.SameFile(place, fmt.Sprintf("/proc/self/fd/%d", file.Fd())) {
			return place, file, nil
		}
	}
	return filepath.Join(proc, chosen.Link()), file, nil // no path leads to the file any more
}

// mappedPaths returns the possible paths of a mapped file: below the root of the process, and the path in /proc/PID/maps, which
// is right if the process's root is a folder below ftgo's root (chroot(2)).
func mappedPaths(proc, path string) [2]string {
	return [2]string{filepath.Join(proc, "root", path), path}
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
	return fmt.Sprintf("%02x:%02x %d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
}
