package tracefs

import (
	"errors"
	"fmt"
)

// RemainsError is a session that could not be removed whole: it is a [Leftover] when the
// process has ended, for [FS.Sweep] to try again.
type RemainsError struct {
	// Name is the session's group and instance.
	Name string
	Err  error
}

func (e *RemainsError) Error() string {
	return fmt.Sprintf("session %s remains in the kernel: %v", e.Name, e.Err)
}

func (e *RemainsError) Unwrap() error { return e.Err }

// notRemoved says of what has failed while a session was removed that it remains.
func notRemoved(name string, failed ...error) error {
	if err := errors.Join(failed...); err != nil {
		return &RemainsError{name, err}
	}
	return nil
}
