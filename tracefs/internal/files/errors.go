package files

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// IsNotExist: the file is not there.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// IsGone: the file is not there, or has just ceased to stand for anything, since somebody
// has removed its instance or its events (kernel/trace/trace.c, trace_array_get, and
// trace_events.c, subsystem_open).
func IsGone(err error) bool { return IsNotExist(err) || errors.Is(err, unix.ENODEV) }

// IsBusy: somebody uses what is to be removed.
func IsBusy(err error) bool { return errors.Is(err, unix.EBUSY) }

// Refused is an error of the kernel's files, explained as far as it alone tells:
// package doctor knows more.
func Refused(verb, object string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(object, "uprobe_events") {
		return fmt.Errorf("%s %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", verb, object, err)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == object {
		return err // which says so itself
	}
	return fmt.Errorf("%s %s: %w", verb, object, err)
}
