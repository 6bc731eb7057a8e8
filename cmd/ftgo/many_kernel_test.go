package main

import (
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelTwentyAtOnce: as many runs on the same functions of the same file, begun and
// ended at once, count what they are to count.
func TestKernelTwentyAtOnce(t *testing.T) {
	f := tracetest.LongKernel(t)
	path := fixture.Build(t, "exact")
	var targets [2]*child
	var ins [2]io.Closer
	for i := range targets {
		targets[i], ins[i] = waiting(t)
	}
	functions := []string{"main.upper", "main.middle", "main.lower", "main.returns"}
	kinds := []struct {
		args      []string
		processes uint64 // of which it sees the calls
	}{
		{[]string{"probe", "-o", "json", path}, 2},
		{[]string{"count", "-o", "json", path}, 2},
		{[]string{"probe", "-o", "json", "-p", fmt.Sprint(targets[0].Process.Pid)}, 1},
		{[]string{"raw", "probe", "-o", "json", path}, 2},
		{[]string{"count", "-o", "json", "-p", fmt.Sprint(targets[1].Process.Pid)}, 1},
	}
	var runs []*child
	for i := range 20 {
		// Beside nineteen others each would leave alone what takes more than its share of a busy machine.
		runs = append(runs, launch(t, readBy(t, slices.Concat(kinds[i%len(kinds)].args, []string{"--budget", "0"}, functions))...))
	}
	for _, p := range runs {
		p.await(t)
	}
	for _, in := range ins {
		in.Close()
	}
	for _, target := range targets {
		target.endsWell(t)
	}
	for _, p := range runs {
		p.Process.Signal(syscall.SIGINT)
	}
	b := readBooks(t, targets[0].out.String())
	for i, p := range runs {
		kind := kinds[i%len(kinds)]
		if code := p.end(t); code != 0 {
			t.Errorf("%q: status %d\n%s", kind.args, code, p.err.String())
			continue
		}
		o := readObserved(t, p.out.String())
		for _, name := range functions {
			got, want := o.functions[name], b.Functions[name]
			if got.Calls != kind.processes*want.Calls || want.Calls == 0 {
				t.Errorf("%q: %s: %d calls, want %d times %d", kind.args, name, got.Calls, kind.processes, want.Calls)
			}
			if kind.args[0] == "probe" && (got.Completed != kind.processes*want.Completed || got.Unwound != kind.processes*want.Unwound) {
				t.Errorf("%q: %s: %d completed and %d unwound, want %d times %+v", kind.args, name, got.Completed, got.Unwound, kind.processes, want)
			}
		}
		if s := o.summary; s.Lost != 0 || s.Delivered != s.Hits {
			t.Errorf("%q: %d hits, %d delivered, %d lost", kind.args, s.Hits, s.Delivered, s.Lost)
		}
		if t.Failed() {
			t.Logf("%s%s", p.out.String(), p.err.String())
		}
		nothingOf(t, f, p.Process.Pid)
	}
}
