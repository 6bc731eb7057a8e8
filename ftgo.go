// Package ftgo traces calls of Go programs: of running programs, or of one that it starts. The program needs no rebuild
// and no restart, and nothing is written into it.
//
// A [Tracer] selects a program and functions. Its methods trace them or list them:
//
//	Calls    yields each call: its arguments and results, its duration, its goroutine
//	Reports  yields totals: calls and latencies of each function, at an interval
//	Count    only counts calls, at the lowest cost
//	List     lists the functions that can be probed; it needs no privileges
//
// This prints the slow calls of all processes of a program, until Ctrl-C:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//	defer stop()
//	t := &ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"main.handle"}, Values: true}
//	for call, err := range t.Calls(ctx) {
//		if err != nil {
//			log.Fatal(err) // the probes are removed by now
//		}
//		if call.Took > 10*time.Millisecond {
//			fmt.Println(call)
//		}
//	}
//
// Tracing needs root and Linux 4.0 or later, better 5.4, on x86-64 or arm64. It places probes through the kernel's file
// uprobe_events. Each probe costs the program about a microsecond per call.
package ftgo

import (
	"context"
	"errors"
	"iter"
	"os/exec"
	"time"

	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// A Tracer selects what to trace: a Binary, PIDs, a Command or a Recording, and Funcs.
//
// Each method runs a separate trace, and has removed its probes when it returns, even if a loop over it breaks or panics.
// If the loop ends the process, with os.Exit or log.Fatal, the probes stay until the next trace removes them. Methods don't
// change the Tracer. Goroutines may share it.
type Tracer struct {
	// Binary is a path, the name of a program in $PATH, or the name of a library, as libc.so.6. All processes that run
	// it are traced, including later ones. If PIDs, Command or Recording is set, Binary may be empty.
	Binary string
	// PIDs limits the trace to these processes, until they end.
	PIDs []int
	// Command is started when the probes are in place. The trace ends with it. If the trace ends first, the process
	// gets SIGTERM and, 3 s later, SIGKILL. A Command can be used for only one trace.
	Command *exec.Cmd
	// Recording is a file written by the script of ftgo script. Its calls are yielded as if they happened now. The
	// script has selected the functions: Funcs, Exclude and Command must be empty. If Binary is set to the traced
	// program, calls have values and callers. Values need a script that was made without the flags --regexp, --wrappers,
	// --where, --strlen and --items.
	Recording string

	// Funcs are names and globs, as on ftgo's command line: "net/http.*", "main.(*Store).Get". Globs match no wrappers, which
	// the compiler generates to call functions. "main.get(key, req.URL.Path)" selects values, and so does a whole
	// signature.
	Funcs []string
	// Exclude are names and globs of functions to leave out.
	Exclude []string

	// Values makes Calls fetch the arguments and results of all functions. Values selected in Funcs are always fetched.
	Values bool
	// Stack is the number of callers that Calls fetches with each call, at most 15.
	Stack int
	// Entries makes Calls yield calls when they begin. Their ends are not probed.
	Entries bool

	bufferKB int // of the ring buffer of each CPU; 0 for the default
}

var (
	// ErrNoMatch: Funcs match no function.
	ErrNoMatch = target.ErrNothing
	// ErrUnsupported: the kernel, the binary or the recording does not support the trace. If only privileges are missing,
	// the error is [io/fs.ErrPermission].
	ErrUnsupported = errors.New("not supported")
)

// Calls yields calls when they end or, with Entries, when they begin. The calls that are open at the end of the trace
// come last. The caller may keep a *Call.
//
// The trace ends without an error when ctx is done, or when the Command or the processes have ended. An error is the last
// item, and the probes are removed by then. If anything was lost, the last item is a [*LossError]. While the loop's body
// runs, the kernel buffers some megabytes of events per CPU.
func (t *Tracer) Calls(ctx context.Context) iter.Seq2[*Call, error] {
	mode := uprobe.Latency
	if t.Entries {
		mode = uprobe.Entries
	}
	return func(yield func(*Call, error) bool) {
		if err := t.run(ctx, mode, true, 0, func(c *Call, _ *Report) bool { return yield(c, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// Reports yields totals since the beginning, at an interval and at the end. If every is 0 or the source is a Recording,
// it yields one report at the end. It ends as Calls does. An error is the last item. If the numbers are complete, the
// last report comes before the error.
func (t *Tracer) Reports(ctx context.Context, every time.Duration) iter.Seq2[*Report, error] {
	return func(yield func(*Report, error) bool) {
		if err := t.run(ctx, uprobe.Latency, false, every, func(_ *Call, r *Report) bool { return yield(r, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// Count counts calls until ctx is done, or until the Command or the processes have ended. The kernel counts: it records
// nothing and loses nothing. If PIDs is set, and before Linux 6.12, calls are recorded, and the Report has the number
// of lost hits. Count does not place probes in single processes, as ftgo count -p does, because a Report has no bounds.
func (t *Tracer) Count(ctx context.Context) (*Report, error) {
	var last Report
	err := t.run(ctx, uprobe.Count, false, 0, func(_ *Call, r *Report) bool {
		last = *r
		return true
	})
	return &last, err
}

// List yields the functions that Funcs select, in the order of the file. If a function can't be probed, Func.Unprobed
// is the reason. An error is the last item.
func (t *Tracer) List() iter.Seq2[Func, error] {
	return func(yield func(Func, error) bool) {
		q, err := t.query()
		var rows []target.Listed
		if err == nil {
			rows, err = q.List(quiet{}.Say, true)
		}
		if err != nil {
			yield(Func{}, err)
			return
		}
		for _, r := range rows {
			f := Func{Name: r.Name, Addr: r.Addr, File: r.File, Line: r.Line, Signature: r.Signature, Unprobed: r.Err}
			if !yield(f, nil) {
				return
			}
		}
	}
}
