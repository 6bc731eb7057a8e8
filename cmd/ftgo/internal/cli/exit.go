// Package cli is what all commands have in common: what they say, how they end, and their flags.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// Env is what a command has to work with. It writes data to Stdout, everything else to Stderr.
type Env struct {
	Stdout, Stderr io.Writer
	Quiet          bool
	// BufferKB is the ring buffer's size per CPU, 0 for what suits the machine. Adjust changes the features of the
	// kernel. Tests make both small.
	BufferKB int
	Adjust   func(tracefs.Features) tracefs.Features
	ReadRaw  bool             // events are read as pages of the ring buffer, and not only where that pays: tests compare
	First    int              // sites that are probed first where the others follow or, if 0, as many as is usual
	FS       *tracefs.FS      // that is used, nil if nothing is to be done
	Own      doctor.Functions // of ftgo's, for what probes cost
	Release  string           // names this ftgo
	Lower    func() error     // drops privileges that no run needs, if it is set
	Patience time.Duration    // trees wait so long for goroutines that outlive them or, if 0, as long as is usual
	doing    atomic.Pointer[string]
}

// Beside returns an Env of a run beside others, which writes to stderr alone.
func (e *Env) Beside(stderr io.Writer) *Env {
	return &Env{
		Stdout: io.Discard, Stderr: stderr, Quiet: e.Quiet,
		BufferKB: e.BufferKB, Adjust: e.Adjust, First: e.First, Own: e.Own, Release: e.Release, Lower: e.Lower, Patience: e.Patience,
	}
}

// Say writes a line to stderr, but not under --quiet.
func (e *Env) Say(format string, args ...any) {
	if !e.Quiet {
		e.Warn(fmt.Sprintf(format, args...))
	}
}

// Warn writes a line to stderr, even under --quiet. It escapes the text, because names in it may
// come from a binary or a file system that wants to control the terminal, or to say something
// itself, and keeps it brief, because what is quoted may be of any length.
func (e *Env) Warn(text string) {
	fmt.Fprintf(e.Stderr, "ftgo: %s\n", printable.Brief(printable.Text(strings.ReplaceAll(text, "\n", "; "))))
}

// Progress shows on a terminal what is being done, and what Doing tells of it, until stop is called,
// because who waits for long wants to know for what.
func (e *Env) Progress(what string) (stop func()) {
	if e.Quiet {
		return func() {}
	}
	e.Doing(what, 0, 0)
	return Progress(e.Stderr, func() string { return "ftgo: " + *e.doing.Load() })
}

// Doing notes how far long work is, for Progress. of is 0 where it is not known how much there is.
func (e *Env) Doing(what string, done, of int) {
	switch {
	case of > 0:
		what = fmt.Sprintf("%s: %d of %d", what, done, of)
	case done > 0:
		what = fmt.Sprintf("%s: %d", what, done)
	}
	e.doing.Store(&what)
}

// Use notes which tracefs is used, and lets grace periods be expedited there.
func (e *Env) Use(f *tracefs.FS) {
	e.FS, f.Progress, f.Expedite = f, e.Doing, true
}

// RemoveHeld removes instances that others held when they were to go, and tells of those that
// they still hold, which is no failure: nothing is on in them.
func (e *Env) RemoveHeld() {
	if e.FS == nil {
		return
	}
	if err := e.FS.RemoveHeld(); err != nil {
		e.Say("%v; the next run, or ftgo clean, removes what stays", err)
	}
}

// Exit statuses, as documented in the README.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3 // nothing matched
	ExitKernel  = 4 // the kernel, the permissions or the machine do not allow it
	ExitLost    = 5 // more lost than --max-lost
	ExitFailIf  = 6 // the condition of --fail-if was true, or diff --fail found a change
)

// statusError is an error with an exit status of its own.
type statusError struct {
	error
	code int
}

func (e *statusError) Unwrap() error { return e.error }

// WithStatus has ftgo end with a status, because of err.
func WithStatus(code int, err error) error { return &statusError{err, code} }

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
	switch {
	case err == nil, errors.Is(err, ErrHelp):
		return ExitOK, ""
	case errors.Is(err, tracefs.ErrRemains):
		// Nothing else excuses that, be it that nobody reads the output any more.
		return ExitFailed, oneLine(err) + "; ftgo clean removes what remains"
	case errors.As(err, &program):
		return int(program), ""
	case unread(err):
		// The reader has what it wanted: ftgo ... | head.
		return ExitOK, ""
	case errors.As(err, &status):
		code = status.code
	case errors.Is(err, target.ErrUsage):
		code = ExitUsage
	case errors.Is(err, target.ErrNothing):
		code = ExitNothing
	case errors.Is(err, tracefs.ErrNotMounted), errors.Is(err, tracefs.ErrNotSupported), errors.Is(err, target.ErrForeign), KernelRefused(err):
		code = ExitKernel
	default:
		code = ExitFailed
	}
	return code, oneLine(err)
}

// unread tells whether all that is wrong is that nobody reads the output any more.
func unread(err error) bool {
	if all, several := err.(interface{ Unwrap() []error }); several {
		return !slices.ContainsFunc(all.Unwrap(), func(err error) bool { return !unread(err) })
	}
	if within := errors.Unwrap(err); within != nil {
		return unread(within)
	}
	return err == syscall.EPIPE
}

// oneLine joins the lines of an error, without those that another ends with: what can't be
// written can't be written again when the file is closed.
func oneLine(err error) string {
	var kept []string
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		others := slices.Concat(kept, lines[i+1:])
		if !slices.ContainsFunc(others, func(other string) bool { return strings.HasSuffix(other, line) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "; ")
}

// KernelRefused tells whether the kernel is the reason: a file of tracefs was not ours to use,
// a definition was refused, or there is no memory for what was asked of it.
func KernelRefused(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOMEM) ||
		ok && path.Op == "mkdir" // a kernel that is locked down says EINVAL
	return errors.Is(err, tracefs.ErrRefused) || denied && ok && strings.HasPrefix(path.Path, "/sys/kernel/")
}

// The signals that ask the process to end come here, once they are caught. Who gives them back stops
// these channels: signal.Reset would also take them from others in the process, as tests are.
var endings, hangups = make(chan os.Signal, 8), make(chan os.Signal, 8)

// LetEnd gives the signals back that [Interrupted] has caught: they end the process, or are ignored, as
// before.
func LetEnd() {
	signal.Stop(endings)
	LetHangUp()
}

// LetHangUp does that with SIGHUP alone.
func LetHangUp() { signal.Stop(hangups) }

// Interrupted returns a context that is done once the process is told to end.
//
// The signals stay caught until stop is called: a second Ctrl-C must not kill the
// process while it removes its probes. SIGPIPE is caught so that a write to a closed
// pipe is an error like any other, and not the end. stop returns the signal that the
// process is to die of now, 0 if there is none.
func Interrupted(stderr io.Writer) (ctx context.Context, stop func() syscall.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	// A shell that is no terminal's ignores SIGINT for what it starts in the background, but
	// scripts send it to end a run.
	signal.Notify(endings, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(hangups, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	last := make(chan syscall.Signal)
	go func() {
		var deadly syscall.Signal
		for {
			var s os.Signal
			select {
			case s = <-endings:
			case s = <-hangups:
			case last <- deadly:
				return
			}
			if ctx.Err() != nil {
				fmt.Fprintln(stderr, "ftgo: removing the probes, one moment")
			}
			var stacks bytes.Buffer
			if deadly == 0 && (s == syscall.SIGQUIT || s == syscall.SIGABRT) {
				deadly = s.(syscall.Signal)
				// Go programs tell what they do when these signals come, since it may be
				// that something hangs.
				fmt.Fprintf(&stacks, "ftgo: %v: what ftgo does at this moment\n\n", s)
				_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
			}
			cancel(&EndedBy{s})
			_, _ = stacks.WriteTo(stderr) // which may take its time
		}
	}()
	return ctx, func() syscall.Signal {
		defer cancel(nil)
		return <-last
	}
}

// Die ends the process by a signal as the kernel does: whoever waits for it sees the signal,
// and there is a core file where the limits allow one. Left to Go's runtime the process would
// exit with status 2, which is that of wrong usage.
func Die(by syscall.Signal) {
	var byDefault struct{ handler, flags, restorer, mask uintptr } // struct sigaction of rt_sigaction(2); SIG_DFL is 0
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(by), uintptr(unsafe.Pointer(&byDefault)), 0, unsafe.Sizeof(byDefault.mask), 0, 0)
	// The signal of another thread would come after the return.
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(by))
}

// EndedBy is why a context of Interrupted is done.
type EndedBy struct{ Signal os.Signal }

func (e *EndedBy) Error() string { return "told to end by signal: " + e.Signal.String() }

// BeforeItBegan is the error of a run that was told to end while its probes were being placed.
// The same signal ends a run well later on; but here nothing was traced.
func BeforeItBegan(ctx context.Context) error {
	by, ok := errors.AsType[*EndedBy](context.Cause(ctx))
	if !ok {
		by = &EndedBy{syscall.SIGINT}
	}
	return WithStatus(128+int(by.Signal.(syscall.Signal)), fmt.Errorf("place probes: %w; nothing was traced", context.Cause(ctx)))
}
