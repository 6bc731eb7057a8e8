package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// status reads that of the file, which must be a regular one, and finds out how much there may be
// of anything in it.
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
	size := m.stat.Size
	held := holding(m.file, size)
	m.sparse = held < size
	m.most = uint64(held)
	if held < size/2 {
		m.most = min(m.most, maxSparse)
	}
	return nil
}

// Close closes the file, and gives up the hold of it. It closes Described, too.
func (m *Image) Close() error {
	if m.Described != m {
		m.Described.Close()
	}
	return m.file.Close()
}

// Reader reads the bytes of the file.
func (m *Image) Reader() io.ReaderAt { return m.file }

// Path is the path given to Open.
func (m *Image) Path() string { return m.path }

// Link names the very file that was read, which is open, whatever its path has come to mean since.
func (m *Image) Link() string { return fmt.Sprintf("/proc/self/fd/%d", m.file.Fd()) }

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

// holdFor is how long a writer may take to go. A process that is being started has all
// files of its parent's open until it is what it is to be.
const holdFor = 300 * time.Millisecond

// Hold makes everybody wait who opens the file for writing, or truncates it, until Release
// or Close, or for /proc/sys/fs/lease-break-time, 45 seconds: breakpoints in a file that is
// written over, as cp does, are in the middle of other instructions, and its next process
// comes to harm. It is a lease (fcntl(2), F_SETLEASE); not all file systems have them, and
// without one there is only Unchanged. Another file may take the name at any time. The error is that
// the file has changed, or, if busy, that somebody has it open for writing.
func (m *Image) Hold() (busy bool, err error) {
	for until := time.Now().Add(holdFor); ; time.Sleep(10 * time.Millisecond) {
		switch err := m.lease(unix.F_RDLCK); {
		case err == nil:
			err := m.Unchanged() // until now
			m.held = true
			return false, err
		case err != unix.EAGAIN:
			return false, m.Unchanged()
		case time.Now().After(until):
			return true, fmt.Errorf("%s: somebody has it open for writing", m.path)
		}
	}
}

// Release lets writers go on.
func (m *Image) Release() {
	if m.held {
		m.held = false
		m.lease(unix.F_UNLCK)
	}
}

// Written tells whether somebody waits to write to the file, or, without a lease, has done so.
func (m *Image) Written() bool {
	if !m.held {
		return m.Unchanged() != nil
	}
	kind, err := unix.FcntlInt(m.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_RDLCK
}

func (m *Image) lease(kind int) error {
	_, err := unix.FcntlInt(m.file.Fd(), unix.F_SETLEASE, kind)
	return err
}

// A file of a few kilobytes may claim to have gigabytes: holes read as zeros. What is read at
// once is bounded by what the file holds.

// maxExtents is how many pieces of a file are added up. What is behind them does not count.
const maxExtents = 1 << 14

// holding is how many bytes of a file are not holes: all of them, where the file system does
// not tell.
func holding(f *os.File, size int64) (held int64) {
	end := int64(0)
	for range maxExtents {
		start, err := f.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // nothing but a hole from here on
		}
		if err != nil {
			return size
		}
		if end, err = f.Seek(start, unix.SEEK_HOLE); err != nil {
			return size
		}
		held += end - start
	}
	return min(held, size)
}

// maxSparse is how many bytes are read at once of a file that is mostly holes.
const maxSparse = 256 << 20

// dataFrom is where the file's data go on, from an offset on; ok is false if nothing but a hole
// follows.
func (m *Image) dataFrom(offset int64) (at int64, ok bool) {
	if !m.sparse {
		return offset, true
	}
	at, err := m.file.Seek(offset, unix.SEEK_DATA)
	return at, err == nil
}

// hollow tells whether there is a hole in a range of the file.
func (m *Image) hollow(offset, size uint64) bool {
	if !m.sparse {
		return false
	}
	hole, err := m.file.Seek(int64(offset), unix.SEEK_HOLE)
	return err == nil && uint64(hole) < offset+size
}

// Most is how many bytes anything in the file may have.
func (m *Image) Most() uint64 { return m.most }

// MaxDebug is how many bytes all debug information has, decompressed: that of compilers shrinks
// to a half or a quarter, that of small programs may do better.
func (m *Image) MaxDebug() uint64 {
	return min(8*m.most, max(4*m.most, maxSparse)) + 1<<20
}
