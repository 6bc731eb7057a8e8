package terminal

import (
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Keys are those typed on a terminal, one by one and unseen, until Restore is called.
type Keys struct {
	Typed   chan byte
	Restore func()

	fd     int
	before syscall.Termios
}

// ReadKeys takes over the terminal that f is; nil if it is none, or not in the foreground,
// where asking it would stop the process.
func ReadKeys(f *os.File) *Keys {
	k := &Keys{fd: int(f.Fd()), Typed: make(chan byte, 16)}
	if !k.ioctl(syscall.TCGETS, &k.before) || !k.foreground() {
		return nil
	}
	now := k.before
	// Ctrl-C and Ctrl-Z stay what they are.
	now.Lflag &^= syscall.ICANON | syscall.ECHO
	now.Cc[syscall.VMIN], now.Cc[syscall.VTIME] = 1, 0
	if !k.ioctl(syscall.TCSETS, &now) {
		return nil
	}
	var once sync.Once
	k.Restore = func() { once.Do(func() { k.ioctl(syscall.TCSETS, &k.before) }) }
	go k.read() // for as long as the process lives: a read of a terminal can't be called off
	return k
}

func (k *Keys) read() {
	var b [1]byte
	for {
		if n, err := syscall.Read(k.fd, b[:]); n != 1 || err != nil && err != syscall.EINTR {
			return
		}
		k.Typed <- b[0]
	}
}

func (k *Keys) ioctl(request uintptr, t *syscall.Termios) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(k.fd), request, uintptr(unsafe.Pointer(t)))
	return errno == 0
}

func (k *Keys) foreground() bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(k.fd), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno == 0 && int(group) == syscall.Getpgrp()
}
