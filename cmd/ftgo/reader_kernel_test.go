package main

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// readers are the ways to read events: one of them, unless long tests are asked for, because
// TestKernelRaw runs what matters with the other.
func readers() []string {
	if fixture.Long() {
		return []string{"pipe", "raw"}
	}
	return []string{"raw"}
}

// readBy has a test's ftgo read raw pages if the arguments begin with raw, and else the kernel's
// text where there is the choice; it returns the others.
func readBy(t *testing.T, args []string) []string {
	t.Helper()
	t.Setenv(readerVar, args[0])
	if args[0] == "raw" {
		args = args[1:]
	}
	return args
}

// TestKernelRaw runs the tests of exactness a second time, with the other reader.
func TestKernelRaw(t *testing.T) {
	fixture.NeedLong(t)
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"ProbeIsExact", TestKernelProbeIsExact},
		{"EverythingArmed", TestKernelEverythingArmed},
		{"Flood", TestKernelFlood},
		{"AttachExact", TestKernelAttachExact},
		{"Malloc", TestKernelMalloc},
		{"Gccgo", TestKernelGccgo},
		{"Instructions", TestKernelInstructions},
		{"ShortLivedPIE", TestKernelShortLivedPIE},
		{"CgoCallback", TestKernelCgoCallback},
		{"SharedLibrary", TestKernelSharedLibrary},
		{"Values", TestKernelValues},
		{"ShortScripts", TestKernelShortScripts},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(readerVar, "raw")
			c.test(t)
		})
	}
}

// TestKernelRawFlood loses nothing of a flood.
func TestKernelRawFlood(t *testing.T) {
	tracetest.LongKernel(t)
	t.Setenv(readerVar, "raw")
	o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "flood"), []string{"main.framed", "main.leaf"}, "-n", "20011")
	r.succeeded(t)
	if o.summary.Lost != 0 {
		t.Errorf("%d events lost", o.summary.Lost)
	}
	same(t, o, b)
}

// TestKernelOnePID: of two processes of one file only the one that was asked for is seen, with either reader.
func TestKernelOnePID(t *testing.T) {
	tracetest.Kernel(t)
	path := fixture.Build(t, "server")
	target := server(t, path)
	server(t, path, "-every", "1ms")
	pid := fmt.Sprint(target.Process.Pid)
	for _, reader := range []string{"pipe", "raw"} {
		t.Setenv(readerVar, reader)
		calls := jsonLines(t, ran(t, "trace", "-n", "20", "-o", "json", "-p", pid, "main.tick").stdout, "call")
		if len(calls) != 20 {
			t.Errorf("%s: %d calls, want 20", reader, len(calls))
		}
		for _, c := range calls {
			if got := fmt.Sprint(c["pid"]); got != pid {
				t.Errorf("%s: a call of process %s, want %s", reader, got, pid)
			}
		}
		for _, command := range []string{"probe", "count"} {
			began := time.Now()
			o := readObserved(t, ran(t, command, "-d", "0.5", "-o", "json", "-p", pid, "main.tick").stdout)
			// One call every 10 ms at most; the other process has ten times as many.
			most := uint64(time.Since(began)/(10*time.Millisecond)) + 2
			if n, s := o.functions["main.tick"].Calls, o.summary; n == 0 || n > most || s.Delivered+s.Lost != s.Hits {
				t.Errorf("%s, %s: %d calls, want 1 to %d; %+v", reader, command, n, most, s)
			}
		}
	}
}

// TestKernelReadersAgree watches one run of a program by two tracers, one with each reader: both see the same calls,
// with the same values, on the same goroutines. Words of memory are compared where no other thread writes to it: the
// two fetch one after the other.
func TestKernelReadersAgree(t *testing.T) {
	tracetest.LongKernel(t)
	for _, c := range []struct{ target, pattern string }{{"lookup", "main.*"}, {"flood", "main.leaf"}} {
		t.Run(c.target, func(t *testing.T) {
			target := fixture.Build(t, c.target)
			var tracers []*child
			for _, reader := range []string{"pipe", "raw"} {
				t.Setenv(readerVar, reader)
				tracers = append(tracers, tracer(t, "trace", "-o", "json", "--budget", "0", target, c.pattern))
			}
			executed(t, target, "-n", "1009")
			var seen []map[string][]string
			for _, p := range tracers {
				p.Process.Signal(syscall.SIGINT)
				r := p.result(t)
				r.succeeded(t)
				seen = append(seen, byGoroutine(t, r.stdout))
			}
			calls := 0
			for g, want := range seen[0] {
				calls += len(want)
				if got := seen[1][g]; !slices.Equal(got, want) {
					t.Errorf("goroutine %s: %d calls by raw pages, %d by text:\n%.1000q\nby text\n%.1000q", g, len(got), len(want), got, want)
				}
			}
			if len(seen[1]) != len(seen[0]) || calls < 1000 {
				t.Errorf("%d goroutines by raw pages, %d by text, with %d calls", len(seen[1]), len(seen[0]), calls)
			}
		})
	}
}

// byGoroutine are the calls of each goroutine without when they were.
func byGoroutine(t *testing.T, text string) map[string][]string {
	t.Helper()
	calls := make(map[string][]string)
	for _, c := range jsonLines(t, text, "call") {
		g := fmt.Sprint(c["pid"], " ", c["goid"])
		calls[g] = append(calls[g], fmt.Sprint(c["function"], c["tid"], c["depth"], c["end"], c["args"], c["results"]))
	}
	return calls
}
