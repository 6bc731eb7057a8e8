package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

// processFilter is which processes are traced, -p aside.
type processFilter struct {
	fork bool   // processes that those of -p or PROGRAM start, too
	comm string // name of the processes
}

// maxComm is how much of a process's name the kernel keeps (TASK_COMM_LEN less its zero).
const maxComm = 15

func (f *processFilter) Define(fs *cli.Flags) {
	fs.BoolVar(&f.fork, "fork", false, "also trace child processes of -p or PROGRAM")
	fs.StringVar(&f.comm, "comm", "", "trace only processes that ps -o comm calls `NAME`")
}

func (f *processFilter) Check(string) error {
	f.comm = f.comm[:min(len(f.comm), maxComm)]
	return nil
}

// runEnds is when a run begins and ends.
type runEnds struct {
	duration, interval time.Duration
	calls              uint64
	wait               bool
	ready              readyFD
}

func (d *runEnds) Define(fs *cli.Flags) {
	cli.Define(fs, &d.duration, "duration", "d", "stop after `SECONDS`: 5, 100ms or 2m", cli.Seconds)
	cli.Define(fs, &d.interval, "interval", "i", "print a table every `SECONDS`", cli.Seconds)
	fs.Uint64VarP(&d.calls, "calls", "n", 0, "stop after `N` calls, and show no others")
	fs.BoolVar(&d.wait, "wait", false, "wait for BINARY; -d counts from its first process")
	cli.Define(fs, &d.ready, "ready-fd", "", "write \"ready\" to descriptor `N` once probes are armed", cli.Form[readyFD]{Read: readReadyFD})
}

func (d *runEnds) Check(string) error { return nil }

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

// recorder is how events are recorded and read, and what ftgo may do for that.
type recorder struct {
	verbose, dryRun bool
	// maxLost is how many events may be lost; nil is any number.
	maxLost   *uint64
	reader    tracefs.Reader
	bufferKB  *int
	maxProbes int
	// force goes on in spite of much.
	force bool
	// noExpedite leaves the kernel's grace periods as long as they are.
	noExpedite bool
}

func (r *recorder) Define(fs *cli.Flags) {
	fs.BoolVarP(&r.verbose, "verbose", "v", false, "also show the probe definitions and other details")
	fs.BoolVar(&r.dryRun, "dry-run", false, "print the probe definitions and change nothing")
	cli.Define(fs, &r.maxLost, "max-lost", "", "exit with status 5 if more than `N` events are lost", cli.Form[*uint64]{Read: readMaxLost})
	reader := cli.OneOf("READER", "reader", "neither pipe nor raw", "pipe", "raw")
	cli.Define(fs, &r.reader, "reader", "", "read through pipe or, cheaper, raw", cli.Form[tracefs.Reader]{
		Name: reader.Name, Choices: reader.Choices, Write: func(r tracefs.Reader) string { return reader.Choices[r] },
		Read: func(text string) (tracefs.Reader, error) {
			_, err := reader.Read(text)
			return map[string]tracefs.Reader{"raw": tracefs.Raw}[text], err
		},
	})
	cli.Define(fs, r.bufferKB, "buffer", "", "use ring buffers of `SIZE` per CPU (default 16M)", cli.Size)
	fs.BoolVar(&r.force, "force", false, "go on despite unmatched patterns, a file open for writing, or an old kernel")
	r.defineExpedite(fs)
	fs.IntVar(&r.maxProbes, "max-probes", 0, "refuse to place more than `N` probes")
}

func (r *recorder) defineExpedite(fs *cli.Flags) {
	fs.BoolVar(&r.noExpedite, "no-expedite", false, "leave /sys/kernel/rcu_expedited alone")
}

func readMaxLost(text string) (*uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	return &n, err
}

func (r *recorder) Check(string) error { return nil }

// extras are what is traced beside calls.
type extras struct {
	with  []string // patterns of kernel events
	sched bool     // latencies are split by what the goroutine was doing
}

func (x *extras) Define(fs *cli.Flags) {
	fs.StringSliceVar(&x.with, "with", nil, "also show the kernel events `GROUP:EVENT,...`")
	fs.BoolVar(&x.sched, "sched", false, "split latencies into running, runnable and waiting; each state change costs a hit")
}

func (x *extras) Check(string) error { return nil }
