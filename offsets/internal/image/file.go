package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readStatus reads the file's metadata and computes maxSize and sparse. It returns an error for anything but a regular
// file.
func (m *Image) readStatus() error {
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
	held := dataSize(m.file, size)
	m.sparse = held < size
	m.maxSize = uint64(held)
	if held < size/2 {
		m.maxSize = min(m.maxSize, maxSparse)
	}
	return nil
}

// Close closes the file and releases the lease of Hold. It also closes Description.
func (m *Image) Close() error {
	m.Release()
	if m.Description != m {
		m.Description.Close()
	}
	return m.file.Close()
}

// Reader returns a reader for the contents of the file.
func (m *Image) Reader() io.ReaderAt { return m.file }

// Path returns the path passed to Open.
func (m *Image) Path() string { return m.path }

// Link returns a path in /proc that refers to the open file, even if the original path now refers to another one.
func (m *Image) Link() string { return fmt.Sprintf("/proc/self/fd/%d", m.file.Fd()) }

// Map maps the file like a process that executes it. The kernel places the same breakpoints there (uprobe_mmap in kernel/events/uprobes.c).
func (m *Image) Map() ([]byte, error) {
	return unix.Mmap(int(m.file.Fd()), 0, int(m.stat.Size), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
}

// Inode returns the inode number of the file.
func (m *Image) Inode() uint64 { return m.stat.Ino }

// Unchanged returns an error if the file may have been modified since Open.
func (m *Image) Unchanged() error {
	var now unix.Stat_t
	if err := unix.Fstat(int(m.file.Fd()), &now); err != nil {
		return err
	}
	was := &m.stat
	// The change time differs, but neither the link count nor mode or owner: the file may have been written and its
	// modification time reset, as rsync does. With the lease of Hold this sign is not needed, because a writer must break
	// the lease first.
	rewritten := was.Ctim != now.Ctim && was.Nlink == now.Nlink && was.Mode == now.Mode && was.Uid == now.Uid && was.Gid == now.Gid
	if now.Size != was.Size || now.Mtim != was.Mtim || m.lease == nil && rewritten {
		return fmt.Errorf("%s: changed while it was read", m.path)
	}
	return nil
}

// holdFor is the maximum time to wait for a writer to close the file. A process between fork and exec still has all
// files of its parent open.
const holdFor = 300 * time.Millisecond

// Hold takes a read lease on the file (fcntl(2), F_SETLEASE). Until Release or Close, a process that opens the file for
// writing or truncates it blocks for up to /proc/sys/fs/lease-break-time, 45 seconds by default. This prevents breakpoints
// in a file that is overwritten in place, as by cp: they would be in the middle of other instructions and crash the next
// process that runs the file. The lease does not prevent replacing the file under its name. Some file systems do not support
// leases; then only Unchanged detects writers. Hold returns an error if the file has changed. If another process has the
// file open for writing, it returns an error and busy true.
func (m *Image) Hold() (busy bool, err error) {
	// The lease sets FASYNC in the flags of the open file. Some kernels then refuse to read a file of overlayfs through it
	// (fs/overlayfs/file.c, ovl_change_flags, Linux 5.4). So an open file of its own has the lease.
	lease, err := os.Open(m.Link())
	if err != nil {
		return false, m.Unchanged()
	}
	for until := time.Now().Add(holdFor); ; time.Sleep(10 * time.Millisecond) {
		switch _, err := unix.FcntlInt(lease.Fd(), unix.F_SETLEASE, unix.F_RDLCK); {
		case err == nil:
			err := m.Unchanged() // until the lease
			m.lease = lease
			return false, err
		case err != unix.EAGAIN:
			return false, errors.Join(lease.Close(), m.Unchanged())
		case time.Now().After(until):
			return true, errors.Join(lease.Close(), fmt.Errorf("%s: a process has it open for writing", m.path))
		}
	}
}

// Release gives up the lease, so that waiting writers continue.
func (m *Image) Release() {
	m.lease.Close() // does nothing without a lease
	m.lease = nil
}

// Written reports whether a process waits to write to the file or, without a lease, whether the file may have been
// modified.
func (m *Image) Written() bool {
	if m.lease == nil {
		return m.Unchanged() != nil
	}
	kind, err := unix.FcntlInt(m.lease.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_RDLCK
}

// A file of a few kilobytes may claim to have gigabytes, because holes read as zeros. So the size of one read is limited to
// the number of bytes that are not in holes.

// maxExtents is the maximum number of data extents that dataSize adds up; it ignores the rest of the file.
const maxExtents = 1 << 14

// dataSize returns the number of bytes of a file that are not in holes, or size if the file system does not support
// SEEK_DATA.
func dataSize(f *os.File, size int64) (held int64) {
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

// maxSparse is the maximum number of bytes to read at once from a file that is mostly holes.
const maxSparse = 256 << 20

// nextData returns the start of the next data at or after an offset. ok is false if only a hole follows.
func (m *Image) nextData(offset int64) (at int64, ok bool) {
	if !m.sparse {
		return offset, true
	}
	at, err := m.file.Seek(offset, unix.SEEK_DATA)
	return at, err == nil
}

// hasHole reports whether a range of the file contains a hole.
func (m *Image) hasHole(offset, size uint64) bool {
	if !m.sparse {
		return false
	}
	hole, err := m.file.Seek(int64(offset), unix.SEEK_HOLE)
	return err == nil && uint64(hole) < offset+size
}

// MaxSize returns an upper bound for the size of anything in the file, in bytes.
func (m *Image) MaxSize() uint64 { return m.maxSize }

// MaxDebug returns an upper bound for the size of all debug information after decompression, in bytes. Compilers' debug
// information shrinks to a half or a quarter when compressed. The debug information of small programs may shrink more.
func (m *Image) MaxDebug() uint64 {
	return min(8*m.maxSize, max(4*m.maxSize, maxSparse)) + 1<<20
}
