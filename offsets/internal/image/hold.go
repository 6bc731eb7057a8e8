package image

import (
	"fmt"
	"syscall"
	"time"
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
func (f *File) Hold() (busy bool, err error) {
	for until := time.Now().Add(holdFor); ; time.Sleep(10 * time.Millisecond) {
		_, errno := f.lease(syscall.F_SETLEASE, syscall.F_RDLCK)
		switch {
		case errno == 0:
			err := f.Unchanged() // until now
			f.held = true
			return false, err
		case errno != syscall.EAGAIN:
			return false, f.Unchanged()
		case time.Now().After(until):
			return true, fmt.Errorf("%s: somebody has it open for writing", f.path)
		}
	}
}

// Release lets writers go on.
func (f *File) Release() {
	if f.held {
		f.held = false
		f.lease(syscall.F_SETLEASE, syscall.F_UNLCK)
	}
}

// Written tells whether somebody waits to write to the file, or, without a lease, has
// done so.
func (f *File) Written() bool {
	if !f.held {
		return f.Unchanged() != nil
	}
	kind, errno := f.lease(syscall.F_GETLEASE, 0)
	return errno == 0 && kind != syscall.F_RDLCK
}

func (f *File) lease(command, kind uintptr) (uintptr, syscall.Errno) {
	got, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.file.Fd(), command, kind)
	return got, errno
}
