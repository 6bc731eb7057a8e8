package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/tracefs"
)

// Exit statuses, as documented in the README.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNothing = 3 // nothing matched
	exitKernel  = 4 // the kernel or the permissions do not allow it
	exitLost    = 5 // more lost than --max-lost
)

// statusError is an error with an exit status of its own. Without a text it is
// silent.
type statusError struct {
	code int
	err  error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &statusError{exitUsage, fmt.Errorf(format, args...)}
}

func nothing(format string, args ...any) error {
	return &statusError{exitNothing, fmt.Errorf(format, args...)}
}

// programStatus is how PROGRAM ended, when it was not with 0.
type programStatus int

func (s programStatus) Error() string { return fmt.Sprintf("program exited with status %d", int(s)) }

// exitStatus turns an error into an exit status and at most one line of text.
func exitStatus(err error) (code int, text string) {
	var status *statusError
	var program programStatus
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK, ""
	case errors.As(err, &program):
		return int(program), ""
	case errors.Is(err, syscall.EPIPE):
		// The reader has what it wanted: ftgo ... | head.
		return exitOK, ""
	case errors.As(err, &status):
		code = status.code
	case errors.Is(err, tracefs.ErrNotMounted), errors.Is(err, tracefs.ErrNotSupported),
		isKernelRefusal(err):
		code = exitKernel
	default:
		code = exitFailed
	}
	return code, strings.ReplaceAll(err.Error(), "\n", "; ")
}

// isKernelRefusal: a file of tracefs was not ours to use, or a definition was
// refused.
func isKernelRefusal(err error) bool {
	var probe *tracefs.ProbeError
	var path *fs.PathError
	return errors.As(err, &probe) ||
		errors.Is(err, fs.ErrPermission) && errors.As(err, &path) && strings.Contains(path.Path, "/tracing")
}
