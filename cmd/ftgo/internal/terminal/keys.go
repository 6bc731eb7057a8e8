package terminal

import (
	"os"
	"regexp"
	"sync"

	"golang.org/x/sys/unix"
)

// Keys without a letter, as what terminals send for them is told.
const (
	Home, End        = 0x01, 0x05
	PageUp, PageDown = 0x02, 0x06
	Up, Down         = 0x10, 0x0e
	Backspace, Erase = 0x08, 0x7f
	Enter, Newline   = '\r', '\n'
	Interrupt        = 0x03
	Escape           = 0x1b
)

// sequence is what a terminal sends for such a key (ECMA-48, and VT220's for keys of an editor).
var sequence = regexp.MustCompile(`\x1b(\[[0-9;]*[A-Za-z~]|O[A-Za-z])`)

var sequences = map[string]rune{
	"A": Up, "B": Down, "H": Home, "F": End, "1~": Home, "4~": End, "7~": Home, "8~": End, "5~": PageUp, "6~": PageDown,
}

// single makes a letter of each key; those that nobody knows are left out.
func single(typed string) string {
	return sequence.ReplaceAllStringFunc(typed, func(s string) string {
		if key, ok := sequences[s[2:]]; ok {
			return string(key)
		}
		return ""
	})
}

// Keys are those typed on a terminal, one by one and unseen, until Restore is called.
type Keys struct {
	Typed   chan rune
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
	k := &Keys{Typed: make(chan rune, 16)}
	k.Restore = sync.OnceFunc(func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) })
	go func() { // for as long as the process lives: a read of a terminal can't be called off
		var b [64]byte // all that a key sends comes at once
		for {
			n, err := unix.Read(fd, b[:])
			if n < 1 && err != unix.EINTR {
				return
			}
			for _, key := range single(string(b[:max(n, 0)])) {
				k.Typed <- key
			}
		}
	}()
	return k
}
