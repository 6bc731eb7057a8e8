package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// File is a regular file that is open for reading.
type File struct {
	path string
	file *os.File
	stat os.FileInfo
	held bool // by Hold
	// most is how many bytes anything in the file may have; sparse: some of it is holes.
	most   uint64
	sparse bool
}

func newFile(f *os.File, path string) (*File, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case stat.IsDir():
		return nil, errors.New("is a directory")
	case !stat.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	file := &File{path: path, file: f, stat: stat}
	file.measure()
	return file, nil
}

// Close closes the file, and gives up the hold of it.
func (f *File) Close() error { return f.file.Close() }

// Reader reads the bytes of the file.
func (m *Image) Reader() io.ReaderAt { return m.file }

// Path is the path given to Open.
func (f *File) Path() string { return f.path }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (f *File) Fd() uintptr { return f.file.Fd() }

// Inode is the file's number in its file system.
func (f *File) Inode() uint64 {
	if st, ok := f.stat.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// Unchanged fails if the file's bytes may not be those that were read.
func (f *File) Unchanged() error {
	now, err := f.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != f.stat.Size() || !now.ModTime().Equal(f.stat.ModTime()) || !f.held && rewritten(f.stat, now) {
		return fmt.Errorf("%s: changed while it was read", f.path)
	}
	return nil
}

// rewritten tells whether something happened to a file that a new name, or mode, or owner
// does not explain: it may have been written, and its time been put back, as rsync does.
func rewritten(before, after os.FileInfo) bool {
	a, ok1 := before.Sys().(*syscall.Stat_t)
	b, ok2 := after.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && a.Ctim != b.Ctim && a.Nlink == b.Nlink && a.Mode == b.Mode && a.Uid == b.Uid && a.Gid == b.Gid
}
