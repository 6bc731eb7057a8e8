package tracefs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// isGone: the file is not there, or has just ceased to stand for anything, since somebody
// has removed its instance or its events (kernel/trace/trace.c, trace_array_get, and
// trace_events.c, subsystem_open).
func isGone(err error) bool { return isNotExist(err) || errors.Is(err, unix.ENODEV) }

func isBusy(err error) bool { return errors.Is(err, unix.EBUSY) }

func rmdir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return &os.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}
