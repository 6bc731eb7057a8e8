package target

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
