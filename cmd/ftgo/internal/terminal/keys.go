package terminal

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Keys are those typed on a terminal, one by one and unseen, until Restore is called.
type Keys struct {
	Typed   chan byte
	Restore func()
}

// ReadKeys takes over the terminal that f is; nil if it is none, or not in the foreground,
// where asking it would stop the process.
func ReadKeys(f *os.File) *Keys {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || int(int32(group)) != unix.Getpgrp() {
		return nil
	}
	now := *before
	// Ctrl-C and Ctrl-Z stay what they are.
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return nil
	}
	k := &Keys{Typed: make(chan byte, 16)}
	k.Restore = sync.OnceFunc(func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) })
	go k.read(fd) // for as long as the process lives: a read of a terminal can't be called off
	return k
}

func (k *Keys) read(fd int) {
	var b [1]byte
	for {
		if n, err := unix.Read(fd, b[:]); n != 1 || err != nil && err != unix.EINTR {
			return
		}
		k.Typed <- b[0]
	}
}
