package tracefs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// checkFileSystem refuses a file whose probes would never be hit: the kernel reads
// instructions from tmpfs since Linux 3.16 (commit 40814f6805a5, "uprobes: Teach copy_insn()
// to support tmpfs"); before, whoever maps the file later goes without breakpoints, and
// nobody is told.
func checkFileSystem(path string, older func(major, minor int) bool) error {
	var at unix.Statfs_t
	if unix.Statfs(path, &at) != nil || at.Type != unix.TMPFS_MAGIC || !older(3, 16) {
		return nil
	}
	return fmt.Errorf("probe a file on tmpfs: %w (since Linux 3.16): copy it elsewhere", ErrNotSupported)
}

// unreadable explains what the kernel says to files that it can't read instructions from:
// those of overlayfs, until it looked below it (kernel/events/uprobes.c, uprobe_register).
func unreadable(err error) error {
	if errors.Is(err, unix.EIO) {
		return fmt.Errorf("%w (Linux before 4.18 can't probe files on overlayfs: name the one below it)", err)
	}
	return err
}
