package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"syscall"
	"unsafe"
)

// Endings are the signals that ask a process to end.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT}

// Interrupted returns a context that is done once the process is told to end.
//
// The signals stay caught until stop is called: a second Ctrl-C must not kill the
// process while it removes its probes. SIGPIPE is caught so that a write to a closed
// pipe is an error like any other, and not the end. stop returns the signal that the
// process is to die of now, 0 if there is none.
func Interrupted(stderr io.Writer) (ctx context.Context, stop func() syscall.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 8)
	for _, s := range Endings {
		// nohup ignores SIGHUP. A shell that is no terminal's ignores SIGINT for what it
		// starts in the background, but scripts send it to end a run.
		if s != syscall.SIGHUP || !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	done, last := make(chan struct{}), make(chan syscall.Signal)
	go func() {
		var deadly syscall.Signal
		for {
			select {
			case s := <-signals:
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
			case <-done:
				last <- deadly
				return
			}
		}
	}()
	return ctx, func() syscall.Signal {
		close(done)
		cancel(nil)
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
	code := 128 + int(syscall.SIGINT)
	var by *EndedBy
	if errors.As(context.Cause(ctx), &by) {
		code = 128 + int(by.Signal.(syscall.Signal))
	}
	return WithStatus(code, fmt.Errorf("place probes: %w; nothing was traced", context.Cause(ctx)))
}
