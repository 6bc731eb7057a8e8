// Package cli has the parts that all commands share: messages, exit statuses, flags, completion and terminals.
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
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// Env is the environment of a command. Data goes to Stdout, and all messages to Stderr.
type Env struct {
	Stdout, Stderr io.Writer
	Quiet          bool
	Terminal       bool // messages go to a terminal
	// BufferKB is the size of the ring buffer of each CPU in KB, 0 for the default. Adjust changes the features of the
	// kernel. Tests set both.
	BufferKB       int
	Adjust         func(tracefs.Features) tracefs.Features
	ReadRaw        bool             // always read pages of the ring buffer, for tests; otherwise only where that is faster
	FirstSites     int              // the number of sites to probe before all others; 0 is the default
	FS             *tracefs.FS      // nil until SetTracefs
	CostFuncs      doctor.Functions // the functions of ftgo that are probed to measure the cost of hits
	Release        string           // the version of ftgo
	DropPrivileges func() error     // drops privileges that runs do not need; may be nil
	TreeWait       time.Duration    // how long trees wait for goroutines that outlive them; 0 is the default
}

// ForBackground returns an Env for a run in the background, which has no data and writes messages to stderr.
func (e *Env) ForBackground(stderr io.Writer) *Env {
	b := *e
	b.Stdout, b.Stderr, b.FS = io.Discard, stderr, nil
	return &b
}

// Say writes a line to stderr, unless --quiet is set.
func (e *Env) Say(format string, args ...any) {
	if !e.Quiet {
		e.Warn(fmt.Sprintf(format, args...))
	}
}

// maxMessage is the width of the longest message that Warn does not shorten, in columns.
const maxMessage = 2000

// Warn writes a line to stderr, even with --quiet. It escapes the text, because a name in it may come from a
// hostile binary or file and contain control sequences or newlines. It shortens the text, because a name may be of
// any length. It writes the line at once, because runs in the background share stderr.
func (e *Env) Warn(text string) {
	fmt.Fprintf(e.Stderr, "ftgo: %s\n", printable.CutMiddle(printable.Text(strings.ReplaceAll(text, "\n", "; ")), maxMessage))
}

// longWork is the time after which Progress says what takes long.
const longWork = time.Second

// Progress says what ftgo does if it takes long, that is, if stop was not called in time. It says so only on a terminal.
func (e *Env) Progress(text string) (stop func()) {
	if !e.Terminal {
		return func() {}
	}
	waiting := time.AfterFunc(longWork, func() { e.Say("%s", text) })
	return func() { waiting.Stop() }
}

// SetTracefs sets the tracefs to use, and allows expedited grace periods there.
func (e *Env) SetTracefs(f *tracefs.FS) {
	e.FS, f.Expedite = f, true
}

// RemoveHeld removes instances that could not be removed before because other processes held files in them. It
// prints a message for instances that are still held. They are not an error, because they have no enabled events.
func (e *Env) RemoveHeld() {
	if e.FS == nil {
		return
	}
	if err := e.FS.RemoveHeld(); err != nil {
		e.Say("%v; the next run, or ftgo clean, removes the rest", err)
	}
}

// Exit statuses. The README documents them.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3 // no function or process matches
	ExitKernel  = 4 // the kernel, the permissions or the machine do not allow the run
	ExitLost    = 5 // more events were lost than --max-lost allows
	ExitFailIf  = 6 // the condition of --fail-if is true, or diff --fail found a change
)

// statusError is an error with an exit status. Without err, the status is that of PROGRAM.
type statusError struct {
	err  error
	code int
}

func (e *statusError) Unwrap() error { return e.err }

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("program exited with status %d", e.code)
	}
	return e.err.Error()
}

// WithStatus returns err with an exit status.
func WithStatus(code int, err error) error { return &statusError{err, code} }

// Usage returns an error in the command line, with status ExitUsage.
func Usage(format string, args ...any) error {
	return WithStatus(ExitUsage, fmt.Errorf(format, args...))
}

// Nothing returns the error of a search without a match, with status ExitNothing.
func Nothing(format string, args ...any) error {
	return WithStatus(ExitNothing, fmt.Errorf(format, args...))
}

// ProgramStatus returns the error for an exit status of PROGRAM that is not 0. It has no text.
func ProgramStatus(code int) error { return &statusError{nil, code} }

// ExitStatus returns the exit status for an error, and at most one line of text.
func ExitStatus(err error) (code int, text string) {
	var status *statusError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return ExitOK, ""
	case errors.Is(err, tracefs.ErrRemains):
		// Probes that remain in the kernel are an error even if the output's reader has ended.
		return ExitFailed, oneLine(err) + "; ftgo clean removes the rest"
	case errors.As(err, &status) && status.err == nil:
		return status.code, ""
	case readerGone(err):
		// The reader has ended: ftgo ... | head.
		return ExitOK, ""
	case status != nil:
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

// readerGone reports whether err only consists of EPIPE errors.
func readerGone(err error) bool {
	if all, several := err.(interface{ Unwrap() []error }); several {
		return !slices.ContainsFunc(all.Unwrap(), func(err error) bool { return !readerGone(err) })
	}
	if within := errors.Unwrap(err); within != nil {
		return readerGone(within)
	}
	return err == syscall.EPIPE
}

// oneLine joins the lines of an error. It drops a line that another line ends with, because a failed write fails
// again when the file is closed.
func oneLine(err error) string {
	var unique []string
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		others := slices.Concat(unique, lines[i+1:])
		if !slices.ContainsFunc(others, func(other string) bool { return strings.HasSuffix(other, line) }) {
			unique = append(unique, line)
		}
	}
	return strings.Join(unique, "; ")
}

// KernelRefused reports whether the error comes from the kernel: no access to a file below /sys/kernel, a refused
// definition, or no memory for a request.
func KernelRefused(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOMEM) ||
		ok && path.Op == "mkdir" // a kernel in lockdown returns EINVAL
	return errors.Is(err, tracefs.ErrRefused) || denied && ok && strings.HasPrefix(path.Path, "/sys/kernel/")
}

// endings and hangups get the signals that SignalContext catches. [RestoreSignals] calls signal.Stop on these
// channels, because signal.Reset would also take them from other code in the process, such as tests.
var endings, hangups = make(chan os.Signal, 8), make(chan os.Signal, 8)

// RestoreSignals undoes [SignalContext]: signals end the process, or are ignored, as before.
func RestoreSignals() {
	signal.Stop(endings)
	RestoreHangup()
}

// RestoreHangup undoes [SignalContext] for SIGHUP only.
func RestoreHangup() { signal.Stop(hangups) }

// SignalContext returns a context that a signal cancels.
//
// The signals stay caught until stop is called: a second Ctrl-C must not kill the process while it removes its
// probes. SIGPIPE is caught so that a write to a closed pipe returns an error. stop returns the exit status after SIGQUIT
// or SIGABRT, which shells give to a process that a signal has ended, or 0.
func SignalContext(stderr io.Writer) (ctx context.Context, stop func() int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	// SIGINT is caught even if it is ignored: a shell without job control ignores it for background processes, but
	// scripts send it to end a run.
	signal.Notify(endings, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT)
	if !signal.Ignored(syscall.SIGHUP) { // it is ignored under nohup
		signal.Notify(hangups, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	last := make(chan int)
	go func() {
		fatal := 0
		for {
			var s os.Signal
			select {
			case s = <-endings:
			case s = <-hangups:
			case last <- fatal:
				return
			}
			if ctx.Err() != nil {
				fmt.Fprintln(stderr, "ftgo: removing the probes, one moment")
			}
			var stacks bytes.Buffer
			if fatal == 0 && (s == syscall.SIGQUIT || s == syscall.SIGABRT) {
				fatal = 128 + int(s.(syscall.Signal))
				// Like other Go programs, print the goroutines' stacks, because something may hang.
				fmt.Fprintf(&stacks, "ftgo: %v: the stacks of ftgo itself\n\n", s)
				_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
			}
			cancel(Signaled(s))
			_, _ = stacks.WriteTo(stderr) // may block for some time
		}
	}()
	return ctx, func() int {
		defer cancel(nil)
		return <-last
	}
}

// ErrSignaled is the cause of a context that a signal has canceled.
var ErrSignaled = errors.New("told to end by signal")

// Signaled returns an ErrSignaled with the status that shells give to a process that the signal has ended.
func Signaled(s os.Signal) error {
	return WithStatus(128+int(s.(syscall.Signal)), fmt.Errorf("%w: %v", ErrSignaled, s))
}

// EndedBeforeStart returns the error of a run that a signal has ended while its probes were being placed. Later in
// a run, the same signal ends it without an error, but here nothing was traced.
func EndedBeforeStart(ctx context.Context) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ErrSignaled) {
		cause = WithStatus(128+int(syscall.SIGINT), cause)
	}
	return fmt.Errorf("place probes: %w; nothing was traced", cause)
}
