package target

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/procfs"
	"golang.org/x/sys/unix"
)

// Find finds the file that BINARY refers to. A name with a slash, or the name of a file in the current folder, is the
// path of the file. If pid is not 0, any other name is a library that the process has mapped. The name is the library's
// full name, or the name without the version ("libgo"). If pid is 0, any other name is the library that the dynamic
// loader would load, or a program in $PATH.
//
// Find returns a mapped library open, because the path of a mapped library may lead to another file by now. Such a path is
// only for messages. For other files, Find returns a nil file.
func Find(name string, pid int) (path string, file *os.File, err error) {
	machine := new(arch.Machine) // on other processors, it is not known in which folders the loader searches
	if host := arch.Here(); host != nil {
		machine = host.Machine()
	}
	return findBelow("/", machine, name, pid)
}

// findBelow is Find with another root of the file system, and for another machine.
func findBelow(root string, machine *arch.Machine, name string, pid int) (path string, file *os.File, err error) {
	if strings.Contains(name, "/") {
		return name, nil, nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name, nil, nil
	}
	if pid > 0 {
		return findMapped(name, pid, filepath.Join(root, "proc", fmt.Sprint(pid)))
	}
	path, err = installed(root, machine, name)
	if path != "" || err != nil {
		return path, nil, err
	}
	path, err = exec.LookPath(name)
	if err != nil {
		return "", nil, fmt.Errorf("find %q: no such file here, no library that the loader knows, no program in $PATH", name)
	}
	return path, nil, nil
}

// installed finds a library. It searches in the order of the loader (ld.so(8)): LD_LIBRARY_PATH, the cache, the system's
// folders. It does not know the DT_RUNPATH of a program. It returns "" if it does not find the library.
func installed(root string, machine *arch.Machine, name string) (path string, err error) {
	var places [][]string
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		places = append(places, filesIn(root, dir))
	}
	cache, _ := os.ReadFile(filepath.Join(root, "etc/ld.so.cache")) // empty without a cache
	places = append(places, cachedPaths(root, cache))
	for _, dir := range slices.Concat(machine.Libraries, []string{"lib", "usr/lib"}) {
		places = append(places, filesIn(root, dir))
	}
	canonical := func(path string) string {
		file, err := filepath.EvalSymlinks(path)
		if err != nil || !strings.Contains(filepath.Base(path), ".so") || !isFor(machine, path) {
			return ""
		}
		return file
	}
	for _, paths := range places {
		if path, err = chooseLibrary(name, paths, canonical); path != "" || err != nil {
			break
		}
	}
	return path, err
}

// filesIn lists the files in a folder.
func filesIn(root, dir string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Join(root, dir)) // a missing folder has no libraries
	for _, e := range entries {
		paths = append(paths, filepath.Join(root, dir, e.Name()))
	}
	return paths
}

// cachedPaths lists the paths in the loader's cache, in which each string ends with a zero.
func cachedPaths(root string, cache []byte) (paths []string) {
	for text := range strings.SplitSeq(string(cache), "\x00") {
		if at := strings.IndexByte(text, '/'); at >= 0 { // a number may precede the first string
			paths = append(paths, filepath.Join(root, text[at:]))
		}
	}
	return paths
}

// isFor reports whether a file is an ELF file for a machine. NAME.so may also be a linker script.
func isFor(machine *arch.Machine, path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Machine == machine.ELF && f.Class == elf.ELFCLASS64
}

// match reports whether the last element of path is name, or name and an ending like .so, .so.6 or -2.31.so. A name with .so
// may also have an ending like .6. It returns the ending as version.
func match(name, path string) (version string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(path), name)
	versioned := strings.HasPrefix(rest, ".so") || strings.Contains(name, ".so") && strings.HasPrefix(rest, ".") ||
		strings.HasPrefix(rest, "-") && strings.Contains(rest, ".so")
	return rest, ok && (rest == "" || versioned)
}

// chooseLibrary returns the path of the file with the name. Without such a file, it returns the path of the file with the
// name and a version. It returns "" if no file matches, and an error if several files match. identity returns the
// same text for all paths that lead to the same file, and "" for a path to ignore.
func chooseLibrary(name string, paths []string, identity func(path string) string) (string, error) {
	for _, exact := range []bool{true, false} {
		found := make(map[string]string) // the path of each identity
		for _, path := range paths {
			version, ok := match(name, path)
			if !ok || exact != (version == "") {
				continue
			}
			if id := identity(path); id != "" && found[id] == "" {
				found[id] = path
			}
		}
		switch paths := slices.Sorted(maps.Values(found)); len(paths) {
		case 0:
			continue
		case 1:
			return paths[0], nil
		default:
			return "", fmt.Errorf("find %q: several libraries: %s", name, strings.Join(paths, ", "))
		}
	}
	return "", nil
}

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
	for _, at := range all {
		path, _ := procfs.CutDeleted(at.Path)
		found[path] = at
	}
	path, err = chooseLibrary(name, slices.Collect(maps.Keys(found)), func(path string) string { return mappedIdentity(found[path]) })
	if err != nil {
		return "", nil, err
	}
	chosen, ok := found[path]
	if !ok {
		return "", nil, fmt.Errorf("find %q: process %d has no such file mapped", name, pid)
	}
	if file, err = openMapped(proc, chosen); err != nil {
		return "", nil, fmt.Errorf("find %q in process %d: %w", name, pid, err)
	}
	// The path in /proc/PID/maps is right if the process's root is a folder below ftgo's root (chroot(2)).
	for _, place := range []string{filepath.Join(proc, "root", path), path} {
		if procfs.SameFile(place, fmt.Sprintf("/proc/self/fd/%d", file.Fd())) {
			return place, file, nil
		}
	}
	return filepath.Join(proc, chosen.Link()), file, nil // no path leads to the file any more
}

// openMapped opens a mapped file by its link in /proc/PID/map_files. To follow the link takes CAP_SYS_ADMIN, and the link is
// missing on Linux before 4.3 without CONFIG_CHECKPOINT_RESTORE. If the link can't be followed, openMapped opens the file by
// its path below the process's root, and checks that it is the mapped file.
func openMapped(proc string, at procfs.Mapping) (*os.File, error) {
	path, deleted := procfs.CutDeleted(at.Path)
	file, err := os.OpenFile(filepath.Join(proc, at.Link()), os.O_RDONLY|unix.O_NONBLOCK, 0)
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

// File is the file that a name refers to now. Later the name may refer to another file.
type File struct {
	Path   string // the path that messages name
	Inode  procfs.Inode
	Size   int64
	Change time.Time // when it was last written to or moved
	link   string    // a path that leads to the file
}

// withFile appends the regular file that now leads to, if the files do not contain it yet. path is for messages, and link
// will lead to the file.
func withFile(files []File, path, now, link string) []File {
	info, err := os.Stat(now)
	if err != nil || !info.Mode().IsRegular() {
		return files
	}
	inode, stat := procfs.InodeOf(now, info), info.Sys().(*syscall.Stat_t)
	if slices.ContainsFunc(files, func(other File) bool { return other.Inode == inode }) {
		return files
	}
	return append(files, File{path, inode, stat.Size, time.Unix(stat.Ctim.Unix()), link})
}

// FilesNamed returns the file that BINARY refers to now, if it exists.
func FilesNamed(binary string) []File {
	path, mapped, err := Find(binary, 0)
	if err != nil {
		return nil
	}
	mapped.Close() // nil without a process
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return withFile(nil, path, path, path)
}

// FilesOf returns the files that processes run now.
func FilesOf(pids []int) (files []File) {
	for _, pid := range pids {
		exe := procfs.Exe(pid)
		if path, err := os.Readlink(exe); err == nil {
			path, _ = procfs.CutDeleted(path)
			files = withFile(files, path, exe, exe)
		}
	}
	return files
}

// FilesBelow returns the files that BINARY refers to now in the roots of processes.
func FilesBelow(binary string, pids []int) (files []File) {
	for _, pid := range pids {
		root := procfs.Root(pid)
		if file, inside, err := procfs.OpenBelow(root, binary); err == nil {
			// By now, a link at that path may lead out of the root.
			files = withFile(files, binary, fmt.Sprintf("/proc/self/fd/%d", file.Fd()), root+inside)
			file.Close()
		}
	}
	return files
}

// Open opens the file. If another file has taken its path, Open returns an error.
func (f *File) Open() (*os.File, error) {
	opened, err := os.OpenFile(f.link, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	inode, err := procfs.OpenInode(opened)
	if err == nil {
		if inode == f.Inode {
			return opened, nil
		}
		err = os.ErrNotExist
	}
	opened.Close()
	return nil, &os.PathError{Op: "open", Path: f.Path, Err: err}
}
