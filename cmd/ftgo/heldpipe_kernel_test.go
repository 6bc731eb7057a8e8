package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// checkHeld fails if a process that has ended left an instance and did not tell so in one line,
// or where other people's pipes hold none.
func checkHeld(t *testing.T, f *tracefs.FS, pid int, talk string) {
	t.Helper()
	told := strings.Count(talk, "; the next run, or ftgo clean, removes the rest\n")
	left, _ := remainsOf(t, f, pid)
	if told > 1 || left > 0 != (told == 1) || left > 0 && !tracefs.ThisMachine().Older(5, 5) {
		t.Errorf("%d instances are left\n%s", left, talk)
	}
}

// checkCleaned fails if a clean-up leaves anything of processes that have ended.
func checkCleaned(t *testing.T, f *tracefs.FS, pids ...int) {
	t.Helper()
	ran(t, "clean")
	for _, pid := range pids {
		nothingOf(t, f, pid)
	}
}

// endingCosts tell when they are to end.
type endingCosts struct {
	trace.NoCosts
	end func()
}

func (c endingCosts) End() { c.end() }

// TestKernelMeasuredFirst: what ftgo has probed in itself goes before what it was asked for. Up to Linux 5.4 two who remove
// probes at once may take from each other the last file that may be open, and leave them there.
func TestKernelMeasuredFirst(t *testing.T) {
	f := tracetest.Kernel(t)
	b, err := offsets.Open(fixture.Build(t, "greet"))
	noError(t, err)
	defer b.Close()
	fn, _ := b.Lookup("main.add")
	plan, err := uprobe.New(b, []*offsets.Func{fn}, uprobe.Options{Mode: uprobe.Count, Features: f.Features()})
	noError(t, err)
	there := 0
	costs := endingCosts{end: func() { there, _ = remainsOf(t, f, os.Getpid()) }}
	live := trace.NewLive(f, plan, trace.Options{Talk: newEnv(io.Discard, io.Discard), Recorder: tracefs.Options{Features: new(f.Features())}, Costs: costs})
	err = live.Arm(t.Context())
	if closed := live.Close(); err != nil || closed != nil || there == 0 {
		t.Errorf("%v, %v; when the measurement is to end there are %d instances of the run", err, closed, there)
	}
}
