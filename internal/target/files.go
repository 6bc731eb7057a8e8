package target

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
)

// File is the file that a name refers to now. Later the name may refer to another file.
type File struct {
	Path   string // the path that messages name
	Inode  procfs.Inode
	Size   int64
	Change time.Time // when it was last written to or moved
	link   string    // a path that leads to the file
}

// newFile returns the regular file that link leads to.
func newFile(path, link string) (f File, ok bool) {
	info, err := os.Stat(link)
	if err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok {
		f = File{path, procfs.InodeOf(link, info), stat.Size, time.Unix(stat.Ctim.Unix()), link}
	}
	return f, ok
}

// FileOf returns the file that BINARY refers to now.
func FileOf(binary string) (f File, ok bool) {
	path, mapped, err := Find(binary, 0)
	if err != nil {
		return f, false
	}
	mapped.Close() // nil without a process
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return newFile(path, path)
}

// FilesOf returns the files that processes run now.
func FilesOf(pids []int) (files []File) {
	for _, pid := range pids {
		exe := procfs.Exe(pid)
		if path, err := os.Readlink(exe); err == nil {
			f, ok := newFile(strings.TrimSuffix(path, " (deleted)"), exe)
			files = withFile(files, f, ok)
		}
	}
	return files
}

// FilesBelow returns the files that BINARY refers to now in the roots of processes.
func FilesBelow(binary string, pids []int) (files []File) {
	known := make(map[procfs.Inode]bool) // roots
	for _, pid := range pids {
		root := procfs.Root(pid)
		info, err := os.Stat(root)
		if err != nil || known[procfs.InodeOf(root, info)] {
			continue
		}
		known[procfs.InodeOf(root, info)] = true
		if file, inside, err := procfs.OpenBelow(root, binary); err == nil {
			// By now, a link at that path may lead out of the root.
			f, ok := newFile(binary, fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
			f.link = root + inside
			files = withFile(files, f, ok)
			file.Close()
		}
	}
	return files
}

// withFile appends a file if ok is true and the files do not contain it yet.
func withFile(files []File, f File, ok bool) []File {
	if !ok || slices.ContainsFunc(files, func(other File) bool { return other.Inode == f.Inode }) {
		return files
	}
	return append(files, f)
}

// Open opens the file. If another file has taken its path, Open returns an error.
func (f *File) Open() (*os.File, error) {
	opened, err := os.OpenFile(f.link, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
