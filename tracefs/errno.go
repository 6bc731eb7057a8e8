package tracefs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isBusy(err error) bool { return errors.Is(err, unix.EBUSY) }

func rmdir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return &os.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}
