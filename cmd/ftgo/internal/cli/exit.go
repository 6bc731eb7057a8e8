package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	exitFailIf  = 6 // the condition of --fail-if was true
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
	var remains *tracefs.RemainsError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK, ""
	case errors.As(err, &remains):
		// Nothing else excuses that, be it that nobody reads the output any more.
		return exitFailed, oneLine(err) + "; ftgo clean removes what remains"
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
	return code, oneLine(err)
}

// oneLine joins the lines of an error, without those that another ends with: what can't be
// written can't be written again when the file is closed.
func oneLine(err error) string {
	var kept []string
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		told := slices.ContainsFunc(lines[i+1:], func(other string) bool { return strings.HasSuffix(other, line) }) ||
			slices.ContainsFunc(kept, func(other string) bool { return strings.HasSuffix(other, line) })
		if !told {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "; ")
}

// isKernelRefusal: a file of tracefs was not ours to use, a definition was refused, or the
// kernel has no memory for what it is asked.
func isKernelRefusal(err error) bool {
	var probe *tracefs.ProbeError
	var path *fs.PathError
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOMEM)
	if errors.As(err, &path) && path.Op == "mkdir" {
		denied = true // a kernel that is locked down says EINVAL
	}
	return errors.As(err, &probe) || denied && errors.As(err, &path) && strings.HasPrefix(path.Path, "/sys/kernel/")
}
