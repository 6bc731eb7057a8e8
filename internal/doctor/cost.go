package doctor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

const (
	// batchCalls is the number of calls in a batch. A batch takes about 0.7 ms.
	batchCalls = 12
	// firstBatches is the number of batches before the first result. Nine are enough to outvote a disturbed one.
	firstBatches = 9
	// fetchedWords and faultyWords are the numbers of words that the entry probes of Fetched and Faulty read.
	fetchedWords = 16
	faultyWords  = 4
)

// ErrNotTried means that the measurement could not start, so that it is unknown whether probes work.
var ErrNotTried = errors.New("not tried")

// errNotItself is returned in ftgo's tests, whose package main has another path.
var errNotItself = fmt.Errorf("%w: ftgo does not find its own functions", ErrNotTried)

// Functions are the functions of ftgo that the costs are measured on.
type Functions [4]func(int) int

// names are the names of Functions in the executable.
var names = [len(Functions{})]string{"main.framed", "main.frameless", "main.fetched", "main.faulty"}

// The indexes of [Functions]. The kernel emulates the first instruction of Framed, Fetched and Faulty, and single-steps the
// first instruction of Frameless. The entry probe of Fetched reads words of the stack. The entry probe of Faulty reads
// words that its argument points to, which is a nil pointer.
const (
	Framed = iota
	Frameless
	Fetched
	Faulty
)

// timeCalls runs a batch of calls with a nil pointer as argument, and returns nanoseconds per call.
func timeCalls(call func(int) int) float64 {
	start := time.Now()
	for range batchCalls {
		call(0)
	}
	return float64(time.Since(start)) / batchCalls
}

// recordsValues reports whether events of a mode carry values.
func recordsValues(mode uprobe.Mode) bool { return mode == uprobe.Latency || mode == uprobe.Entries }

// probe copies all functions into a private file and probes them there. The plan lists the functions in their order. The
// caller closes the session, then the file.
func (m *Measuring) probe(ctx context.Context, features tracefs.Features) (*code, *tracefs.Session, error) {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var funcs []*offsets.Func
	for _, name := range names {
		fn, ok := b.Lookup(name)
		if !ok {
			return nil, nil, errNotItself
		}
		funcs = append(funcs, fn)
	}
	opt := uprobe.Options{Mode: m.mode, Features: features, Stack: m.stack, ReturnsOnly: true}
	if recordsValues(m.mode) {
		minor, _ := b.GoVersion()
		machine := b.File().Processor.Machine()
		firstArg := machine.Go(minor, false).Arg(machine.SP, 0) // valid at a function's entry
		opt.Values = func(fn *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
			switch fn.Name {
			case names[Fetched]:
				v.Entry = wordsAt(machine.SP.Fetch(), fetchedWords)
			case names[Faulty]:
				v.Entry = wordsAt(firstArg, faultyWords)
			}
			return v, nil
		}
	}
	plan, err := uprobe.New(b, funcs, opt)
	if err != nil {
		return nil, nil, err
	}
	if len(plan.Skipped) > 0 {
		return nil, nil, fmt.Errorf("probe %s: %w", plan.Skipped[0].Func.Name, plan.Skipped[0].Err)
	}
	code, err := newCode(b, plan, reflect.ValueOf(m.funcs[Framed]).UnsafePointer())
	if err != nil {
		return nil, nil, err
	}
	file := tracefs.Target{Path: fmt.Sprintf("/proc/self/fd/%d", code.file.Fd())} // no other process can write to it
	session, err := tracefs.Start(ctx, m.fs, file, uprobe.TraceEvents(plan.Events), tracefs.Options{BufferKB: 1024, Quiet: m.mode == uprobe.Count})
	if err != nil {
		code.file.Close()
	}
	return code, session, err
}

// wordsAt returns a capture of 8-byte words at an address; words is their number.
func wordsAt(address string, words int) *capture.Capture {
	c := &capture.Capture{Words: words}
	for w := range words {
		c.Args = append(c.Args, tracefs.Arg{Name: fmt.Sprintf("w%d", w), Fetch: fmt.Sprintf("+%d(%s)", 8*w, address), Type: "s64"})
	}
	return c
}

var errShared = fmt.Errorf("%w: this kernel records uprobes at the top level of tracefs alone, which everybody shares", ErrNotTried)

// Try measures the cost of a hit while nothing else is probed. It fails if the kernel does not count the hits or does
// not deliver them.
func Try(ctx context.Context, fsys *tracefs.FS, funcs Functions, features tracefs.Features) (result pairing.HitCost, err error) {
	if !features.Instances {
		return result, errShared
	}
	m := NewMeasuring(fsys, funcs, uprobe.Latency, 0)
	defer m.Wait()
	m.Start(ctx)
	if costs := m.Take(); costs != nil {
		return costs.Typical, nil
	}
	return result, m.err
}
