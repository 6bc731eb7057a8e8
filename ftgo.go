// Package ftgo traces calls of Go programs: of any that runs, or of one that it starts.
// Nobody rebuilds or restarts the program, and nothing is written into it.
//
// A [Tracer] says of which program and of which functions. Each of its methods is a trace:
//
//	Calls    yields each call: its arguments and results, how long it took, its goroutine
//	Reports  yields totals: calls and latencies of each function, every so often
//	Count    counts calls, and nothing else, as cheaply as can be
//	List     tells what could be probed; it needs no privileges
//
// This prints the slow calls of all processes of a program, until Ctrl-C:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//	defer stop()
//	t := &ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"main.handle"}, Values: true}
//	for call, err := range t.Calls(ctx) {
//		if err != nil {
//			log.Fatal(err) // the probes are gone by now
//		}
//		if call.Took > 10*time.Millisecond {
//			fmt.Println(call)
//		}
//	}
//
// Tracing takes root and Linux 4.0 or later, better 5.4, on x86-64 or arm64. It places plain probes by
// way of the kernel's uprobe_events; each costs the program about a microsecond a call.
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

// A Tracer says what to trace: a Binary, PIDs, a Command or a Recording, and Funcs.
//
// Each method begins a trace of its own, and has removed its probes when it returns. That is so
// if a loop over it breaks or panics, too. Only what ends the process within the loop, like
// os.Exit and log.Fatal, leaves them; the next trace removes those. Methods don't change the
// Tracer, and goroutines may share it.
type Tracer struct {
	// Binary is a path, the name of a program in $PATH, or that of a library, libc.so.6. All
	// processes that run it are traced, those that start later, too. It goes without saying
	// where PIDs or Command tell.
	Binary string
	// PIDs has only these processes traced, until they end.
	PIDs []int
	// Command is started when the probes are in place, and its end ends the trace. If the trace
	// ends first, it gets SIGTERM, and three seconds later SIGKILL. A Command serves one trace.
	Command *exec.Cmd
	// Recording is a file that the script of ftgo script has made. Its calls are yielded as if
	// they happened now; which functions they are of was said then. Binary, if it is the
	// program that was traced, gives values and callers.
	Recording string

	// Funcs are names and globs, as on ftgo's command line: "net/http.*", "main.(*Store).Get". Globs leave
	// out wrappers, which the compiler made to call functions.
	// "main.get(key, req.URL.Path)" chooses values, as does a whole signature.
	Funcs []string
	// Exclude are names and globs of functions to leave out.
	Exclude []string

	// Values has calls tell the arguments and results of all functions. Those that Funcs choose
	// are told in any case.
	Values bool
	// Stack is how many callers calls tell, at most 15.
	Stack int
	// Entries has Calls yield calls when they begin. Their ends are not probed.
	Entries bool

	bufferKB int // of the ring buffer of each CPU; 0 is what suits the machine
}

var (
	// ErrNoMatch: there is no function that Funcs name.
	ErrNoMatch = target.ErrNothing
	// ErrUnsupported: the kernel, the binary or the recording does not allow it. Where only
	// the privileges are lacking, the error is [io/fs.ErrPermission].
	ErrUnsupported = errors.New("not supported")
)

// Calls yields calls when they end, and those that are open at the end last. A *Call is the
// caller's to keep.
//
// It goes on until ctx is done, which is no error, or until the Command or the processes have
// ended. An error is the last item; the probes are gone by then. If anything was lost, the last
// item is a [*LossError]. The kernel keeps what comes while the loop's body works, up to some
// megabytes for each CPU.
func (t *Tracer) Calls(ctx context.Context) iter.Seq2[*Call, error] {
	mode := uprobe.Latency
	if t.Entries {
		mode = uprobe.Entries
	}
	return func(yield func(*Call, error) bool) {
		j, err := t.job(mode, true)
		if err == nil {
			err = j.run(ctx, 0, func(c *Call, _ *Report) bool { return yield(c, nil) })
		}
		if err == nil {
			err = j.loss()
		}
		if err != nil && !errors.Is(err, errBroken) {
			yield(nil, err)
		}
	}
}

// Reports yields what was done since the beginning, every so often and at the end; every 0
// yields it only at the end, as do Recordings. It ends as Calls does. An error is the last item,
// and comes behind the last report if everything was measured.
func (t *Tracer) Reports(ctx context.Context, every time.Duration) iter.Seq2[*Report, error] {
	return func(yield func(*Report, error) bool) {
		j, err := t.job(uprobe.Latency, false)
		if err == nil {
			err = j.run(ctx, every, func(_ *Call, r *Report) bool { return yield(r, nil) })
		}
		if err != nil && !errors.Is(err, errBroken) {
			yield(nil, err)
		}
	}
}

// Count counts calls until ctx is done, or the Command or the processes have ended. The kernel
// counts: nothing is recorded, and nothing lost. With PIDs, and before Linux 6.12, calls are
// recorded, and the Report tells what was lost.
func (t *Tracer) Count(ctx context.Context) (*Report, error) {
	j, err := t.job(uprobe.Count, false)
	if err != nil {
		return nil, err
	}
	var last Report
	err = j.run(ctx, 0, func(_ *Call, r *Report) bool {
		last = *r
		return true
	})
	return &last, err
}

// List tells what Funcs select, in the order of the file, and why some of it can't be probed.
func (t *Tracer) List() iter.Seq2[Func, error] {
	return func(yield func(Func, error) bool) {
		q, err := t.query()
		var rows []target.Row
		if err == nil {
			rows, err = q.List(quiet{}.Say, true)
		}
		if err != nil {
			yield(Func{}, err)
			return
		}
		for _, r := range rows {
			f := Func{Name: r.Name, Addr: r.Addr, File: r.File, Line: r.Line, Signature: r.Signature, Unprobed: r.Unprobed}
			if !yield(f, nil) {
				return
			}
		}
	}
}
