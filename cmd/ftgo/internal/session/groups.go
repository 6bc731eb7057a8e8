package session

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// ProcessFilter is which processes are traced, -p aside.
type ProcessFilter struct {
	Fork bool   // processes that those of -p or PROGRAM start, too
	Comm string // name of the processes
}

// maxComm is how much of a process's name the kernel keeps (TASK_COMM_LEN less its zero).
const maxComm = 15

func (f *ProcessFilter) Define(fs *cli.Flags) {
	fs.BoolVar(&f.Fork, "fork", false, "also trace child processes of -p or PROGRAM")
	fs.StringVar(&f.Comm, "comm", "", "trace only processes that ps -o comm calls `NAME`")
}

func (f *ProcessFilter) Check(string) error {
	f.Comm = f.Comm[:min(len(f.Comm), maxComm)]
	return nil
}

// Ends is when a run begins and ends.
type Ends struct {
	Duration, Interval time.Duration
	Calls              uint64
	Wait               bool
	Ready              readyFD
}

func (d *Ends) Define(fs *cli.Flags) {
	cli.Define(fs, &d.Duration, "duration", "d", "stop after `SECONDS`: 5, 100ms or 2m", cli.Seconds)
	cli.Define(fs, &d.Interval, "interval", "i", "print a table every `SECONDS`", cli.Seconds)
	fs.Uint64VarP(&d.Calls, "calls", "n", 0, "stop after `N` calls, and show no others")
	fs.BoolVar(&d.Wait, "wait", false, "wait for BINARY; -d counts from its first process")
	cli.Define(fs, &d.Ready, "ready-fd", "", "write \"ready\" to descriptor `N` once probes are armed", cli.Form[readyFD]{Read: readReadyFD})
}

func (d *Ends) Check(string) error { return nil }

// readyFD is a file descriptor that the caller has opened; 0 is none, since standard input
// is none to write to.
type readyFD int

func readReadyFD(text string) (readyFD, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("parse file descriptor %q: not a number from 1 on", text)
	}
	return readyFD(n), nil
}

// tell says that the probes are armed. Of the descriptors that are ftgo's own, those of
// standard output and error stay open.
func (v readyFD) tell() error {
	if v == 0 {
		return nil
	}
	f := os.NewFile(uintptr(v), fmt.Sprintf("file descriptor %d", v))
	_, err := f.WriteString("ready\n")
	if v > 2 {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		// Not %w: that nobody reads it is no end like that of ftgo ... | head.
		return fmt.Errorf("tell that the probes are armed (--ready-fd %d): %v", v, err)
	}
	return nil
}

// Recorder is how events are recorded and read, and what ftgo may do for that.
type Recorder struct {
	Verbose, DryRun bool
	// maxLost is how many events may be lost; nil is any number.
	MaxLost *uint64
	// Raw reads pages instead of text.
	Raw       bool
	BufferKB  *int
	MaxProbes int
	// force goes on in spite of much.
	Force bool
	// noExpedite leaves the kernel's grace periods as long as they are.
	NoExpedite bool
}

func (r *Recorder) Define(fs *cli.Flags) {
	fs.BoolVarP(&r.Verbose, "verbose", "v", false, "also show the probe definitions and other details")
	fs.BoolVar(&r.DryRun, "dry-run", false, "print the probe definitions and change nothing")
	cli.Define(fs, &r.MaxLost, "max-lost", "", "exit with status 5 if more than `N` events are lost", cli.Form[*uint64]{Read: readMaxLost})
	reader := cli.OneOf("READER", "reader", "neither pipe nor raw", "pipe", "raw")
	cli.Define(fs, &r.Raw, "reader", "", "read through pipe or, cheaper, raw", cli.Form[bool]{
		Name: reader.Name, Choices: reader.Choices, Write: func(raw bool) string { return map[bool]string{true: "raw", false: "pipe"}[raw] },
		Read: func(text string) (bool, error) {
			_, err := reader.Read(text)
			return err == nil && text == "raw", err
		},
	})
	cli.Define(fs, r.BufferKB, "buffer", "", "use ring buffers of `SIZE` per CPU (default 16M)", cli.Size)
	fs.BoolVar(&r.Force, "force", false, "go on despite unmatched patterns, a file open for writing, or an old kernel")
	r.DefineExpedite(fs)
	fs.IntVar(&r.MaxProbes, "max-probes", 0, "refuse to place more than `N` probes")
}

// DefineExpedite defines the flag that keeps ftgo from cutting grace periods short.
func (r *Recorder) DefineExpedite(fs *cli.Flags) {
	fs.BoolVar(&r.NoExpedite, "no-expedite", false, "leave /sys/kernel/rcu_expedited alone")
}

func readMaxLost(text string) (*uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	return &n, err
}

func (r *Recorder) Check(string) error { return nil }

// Extras are what is traced beside calls.
type Extras struct {
	With  []string // patterns of kernel events
	Sched bool     // latencies are split by what the goroutine was doing
}

func (x *Extras) Define(fs *cli.Flags) {
	fs.StringSliceVar(&x.With, "with", nil, "also show the kernel events `GROUP:EVENT,...`")
	fs.BoolVar(&x.Sched, "sched", false, "split latencies into running, runnable and waiting; each state change costs a hit")
}

func (x *Extras) Check(string) error { return nil }
