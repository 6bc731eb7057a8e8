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

// File is one that a name means at the moment, which may be that of another file later.
type File struct {
	Path   string // what people are told
	Inode  procfs.Inode
	Size   int64
	Change time.Time // when it was last written to, or put elsewhere
	link   string    // leads there
}

// newFile is the file that link leads to; ok is false if there is none.
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

// FileOf is the file that BINARY means now.
func FileOf(binary string) (f File, ok bool) {
	path, mapped, err := Find(binary, 0)
	if err != nil {
		return f, false
	}
	mapped.Close() // which is none
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return newFile(path, path)
}

// FilesOf are the files that some processes run now.
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

// FilesBelow are the files that BINARY means now in the roots of processes.
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
			// What is at that path by now may lead out of there.
			f, ok := newFile(binary, fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
			f.link = root + inside
			files = withFile(files, f, ok)
			file.Close()
		}
	}
	return files
}

// withFile are files and one more, if there is one, and they have it not yet.
func withFile(files []File, f File, ok bool) []File {
	if !ok || slices.ContainsFunc(files, func(other File) bool { return other.Inode == f.Inode }) {
		return files
	}
	return append(files, f)
}

// Open opens the very file, unless it has gone.
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
