package image

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

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

// Written tells whether somebody waits to write to the file, or, without a lease, has
// done so.
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
