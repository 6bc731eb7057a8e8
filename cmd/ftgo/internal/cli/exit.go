package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/tracefs"
)

// Exit statuses, as documented in the README.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3 // nothing matched
	ExitKernel  = 4 // the kernel or the permissions do not allow it
	ExitLost    = 5 // more lost than --max-lost
	ExitFailIf  = 6 // the condition of --fail-if was true
)

// statusError is an error with an exit status of its own.
type statusError struct {
	code int
	err  error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// WithStatus has ftgo end with a status, because of err.
func WithStatus(code int, err error) error { return &statusError{code, err} }

// Usage is an error of who typed the command.
func Usage(format string, args ...any) error {
	return WithStatus(ExitUsage, fmt.Errorf(format, args...))
}

// Nothing is an error for what was looked for and is not there.
func Nothing(format string, args ...any) error {
	return WithStatus(ExitNothing, fmt.Errorf(format, args...))
}

// ErrHelp ends a command that has written its help.
var ErrHelp = pflag.ErrHelp

// ProgramStatus is the status that PROGRAM ended with, other than 0.
type ProgramStatus int

func (s ProgramStatus) Error() string { return fmt.Sprintf("program exited with status %d", int(s)) }

// ExitStatus turns an error into an exit status and at most one line of text.
func ExitStatus(err error) (code int, text string) {
	var status *statusError
	var program ProgramStatus
	var remains *tracefs.RemainsError
	switch {
	case err == nil, errors.Is(err, ErrHelp):
		return ExitOK, ""
	case errors.As(err, &remains):
		// Nothing else excuses that, be it that nobody reads the output any more.
		return ExitFailed, oneLine(err) + "; ftgo clean removes what remains"
	case errors.As(err, &program):
		return int(program), ""
	case errors.Is(err, syscall.EPIPE):
		// The reader has what it wanted: ftgo ... | head.
		return ExitOK, ""
	case errors.As(err, &status):
		code = status.code
	case errors.Is(err, target.ErrUsage):
		code = ExitUsage
	case errors.Is(err, target.ErrNothing):
		code = ExitNothing
	case errors.Is(err, tracefs.ErrNotMounted), errors.Is(err, tracefs.ErrNotSupported),
		KernelRefused(err):
		code = ExitKernel
	default:
		code = ExitFailed
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

// KernelRefused tells whether the kernel is the reason: a file of tracefs was not ours to use,
// a definition was refused, or there is no memory for what was asked of it.
func KernelRefused(err error) bool {
	var probe *tracefs.ProbeError
	var path *fs.PathError
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOMEM)
	if errors.As(err, &path) && path.Op == "mkdir" {
		denied = true // a kernel that is locked down says EINVAL
	}
	return errors.As(err, &probe) || denied && errors.As(err, &path) && strings.HasPrefix(path.Path, "/sys/kernel/")
}
