package offsets

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ErrBeingWritten: somebody has the file open for writing.
var ErrBeingWritten = errors.New("somebody has it open for writing")

// holdFor is how long a writer may take to go. A process that is being started has all
// files of its parent's open until it is what it is to be.
const holdFor = 300 * time.Millisecond

// Hold makes everybody wait who opens the file for writing, or truncates it, until Release
// or Close, or for /proc/sys/fs/lease-break-time, 45 seconds: breakpoints in a file that is
// written over, as cp does, are in the middle of other instructions, and its next process
// comes to harm. It is a lease (fcntl(2), F_SETLEASE); not all file systems have them, and
// without one there is only Unchanged. Another file may take the name at any time.
func (b *Binary) Hold() error {
	for until := time.Now().Add(holdFor); ; time.Sleep(10 * time.Millisecond) {
		_, errno := b.lease(syscall.F_SETLEASE, syscall.F_RDLCK)
		switch {
		case errno == 0:
			err := b.Unchanged() // until now
			b.held = true
			return err
		case errno != syscall.EAGAIN:
			return b.Unchanged()
		case time.Now().After(until):
			return fmt.Errorf("%s: %w", b.path, ErrBeingWritten)
		}
	}
}

// Release lets writers go on.
func (b *Binary) Release() {
	if b.held {
		b.held = false
		b.lease(syscall.F_SETLEASE, syscall.F_UNLCK)
	}
}

// Written tells whether somebody waits to write to the file, or, without a lease, has
// done so.
func (b *Binary) Written() bool {
	if !b.held {
		return b.Unchanged() != nil
	}
	kind, errno := b.lease(syscall.F_GETLEASE, 0)
	return errno == 0 && kind != syscall.F_RDLCK
}

func (b *Binary) lease(command, kind uintptr) (uintptr, syscall.Errno) {
	got, _, errno := syscall.Syscall(syscall.SYS_FCNTL, b.file.Fd(), command, kind)
	return got, errno
}
