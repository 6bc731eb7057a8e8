package image

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// status reads that of the file, which must be a regular one.
func (m *Image) status() error {
	err := unix.Fstat(int(m.file.Fd()), &m.stat)
	switch kind := m.stat.Mode & unix.S_IFMT; {
	case err != nil:
		return err
	case kind == unix.S_IFDIR:
		return errors.New("is a directory")
	case kind != unix.S_IFREG:
		return errors.New("not a regular file")
	}
	return nil
}

// Close closes the file, and gives up the hold of it.
func (m *Image) Close() error { return m.file.Close() }

// Reader reads the bytes of the file.
func (m *Image) Reader() io.ReaderAt { return m.file }

// Path is the path given to Open.
func (m *Image) Path() string { return m.path }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (m *Image) Fd() uintptr { return m.file.Fd() }

// Inode is the file's number in its file system.
func (m *Image) Inode() uint64 { return m.stat.Ino }

// Unchanged fails if the file's bytes may not be those that were read.
func (m *Image) Unchanged() error {
	var now unix.Stat_t
	if err := unix.Fstat(int(m.file.Fd()), &now); err != nil {
		return err
	}
	was := &m.stat
	// Something that a new name, or mode, or owner does not explain: it may have been written, and
	// its time been put back, as rsync does.
	rewritten := was.Ctim != now.Ctim && was.Nlink == now.Nlink && was.Mode == now.Mode && was.Uid == now.Uid && was.Gid == now.Gid
	if now.Size != was.Size || now.Mtim != was.Mtim || !m.held && rewritten {
		return fmt.Errorf("%s: changed while it was read", m.path)
	}
	return nil
}
