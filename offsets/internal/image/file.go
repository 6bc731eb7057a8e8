package image

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// File is a regular file that is open for reading.
type File struct {
	path string
	file *os.File
	stat unix.Stat_t
	held bool // by Hold
	// most is how many bytes anything in the file may have; sparse: some of it is holes.
	most   uint64
	sparse bool
}

func newFile(f *os.File, path string) (*File, error) {
	file := &File{path: path, file: f}
	err := unix.Fstat(int(f.Fd()), &file.stat)
	switch kind := file.stat.Mode & unix.S_IFMT; {
	case err != nil:
		return nil, err
	case kind == unix.S_IFDIR:
		return nil, errors.New("is a directory")
	case kind != unix.S_IFREG:
		return nil, errors.New("not a regular file")
	}
	file.measure()
	return file, nil
}

// Close closes the file, and gives up the hold of it.
func (f *File) Close() error { return f.file.Close() }

// Reader reads the bytes of the file.
func (f *File) Reader() io.ReaderAt { return f.file }

// Path is the path given to Open.
func (f *File) Path() string { return f.path }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (f *File) Fd() uintptr { return f.file.Fd() }

// Inode is the file's number in its file system.
func (f *File) Inode() uint64 { return f.stat.Ino }

// Unchanged fails if the file's bytes may not be those that were read.
func (f *File) Unchanged() error {
	var now unix.Stat_t
	if err := unix.Fstat(int(f.file.Fd()), &now); err != nil {
		return err
	}
	was := &f.stat
	// Something that a new name, or mode, or owner does not explain: it may have been written, and
	// its time been put back, as rsync does.
	rewritten := was.Ctim != now.Ctim && was.Nlink == now.Nlink && was.Mode == now.Mode && was.Uid == now.Uid && was.Gid == now.Gid
	if now.Size != was.Size || now.Mtim != was.Mtim || !f.held && rewritten {
		return fmt.Errorf("%s: changed while it was read", f.path)
	}
	return nil
}
