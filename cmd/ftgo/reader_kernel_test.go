package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
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
		{"JumpEntries", TestKernelJumpEntries},
		{"OneSiteAnEvent", TestKernelOneSiteAnEvent},
		{"EverythingArmed", TestKernelEverythingArmed},
		{"Flood", TestKernelFlood},
		{"Calls", TestKernelCalls},
		{"AttachExact", TestKernelAttachExact},
		{"TargetKilled", TestKernelTargetKilled},
		{"Malloc", TestKernelMalloc},
		{"Gccgo", TestKernelGccgo},
		{"Instructions", TestKernelInstructions},
		{"ShortLivedPIE", TestKernelShortLivedPIE},
		{"CgoCallback", TestKernelCgoCallback},
		{"SharedLibrary", TestKernelSharedLibrary},
		{"TraceAdd", TestKernelTraceAdd},
		{"TracePrintln", TestKernelTracePrintln},
		{"TraceServer", TestKernelTraceServer},
		{"TraceWhere", TestKernelTraceWhere},
		{"TraceCrowd", TestKernelTraceCrowd},
		{"Watch", TestKernelWatch},
		{"Values", TestKernelValues},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "ProbeIsExact" && c.name != "TraceServer" {
				fixture.NeedLong(t)
			}
			t.Setenv(readerVar, "raw")
			c.test(t)
		})
	}
}

// TestKernelRawFlood loses nothing of a flood.
func TestKernelRawFlood(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	t.Setenv(readerVar, "raw")
	o, b, r := observeTarget(t, nil, "probe", fixture.Build(t, "flood"), []string{"main.framed", "main.leaf"}, "-n", "20011")
	r.succeeded(t)
	if o.summary.Lost != 0 {
		t.Errorf("%d events lost", o.summary.Lost)
	}
	same(t, o, b)
}

// TestKernelRawPID tells processes apart by what /proc says of threads.
func TestKernelRawPID(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	t.Setenv(readerVar, "raw")
	target := fixture.Build(t, "server")
	var pids []string
	for range 2 {
		cmd := exec.Command(target)
		noError(t, cmd.Start())
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		pids = append(pids, fmt.Sprint(cmd.Process.Pid))
	}
	r := ftgo(t, "trace", "-n", "20", "-o", "json", "-p", pids[0], "main.tick")
	calls := jsonLines(t, r.stdout, "call")
	if r.code != 0 || len(calls) != 20 {
		t.Fatalf("status %d, %d calls, want 20\n%s", r.code, len(calls), r.stderr)
	}
	for _, c := range calls {
		if pid := fmt.Sprint(c["pid"]); pid != pids[0] {
			t.Errorf("a call of process %s, want %s", pid, pids[0])
		}
	}
	r = ftgo(t, "count", "-n", "20", "-o", "json", "-p", pids[1], "main.tick")
	if s := readObserved(t, r.stdout).summary; r.code != 0 || s.Delivered < 20 || s.Lost != 0 {
		t.Errorf("status %d, summary %+v\n%s", r.code, s, r.stderr)
	}
}

// TestKernelReadersAgree watches one run of a program by two sessions, one with each
// reader: both see the same calls. Words of memory are compared where no other thread
// writes to it: the sessions fetch one after the other.
func TestKernelReadersAgree(t *testing.T) {
	f := tracetest.Kernel(t)
	fixture.NeedLong(t)
	for _, c := range []struct {
		target, pattern string
		args            []string
		values          bool
	}{
		{"exact", "main.*", nil, false},
		{"lookup", "main.*", []string{"-n", "1009"}, true},
		{"flood", "main.leaf", []string{"-n", "1009"}, true},
	} {
		t.Run(c.target, func(t *testing.T) {
			target := fixture.Build(t, c.target)
			text := sessionCalls{values: c.values}
			text.start(t, f, target, c.pattern, false)
			defer text.session.Close()
			raw := sessionCalls{values: c.values}
			raw.start(t, f, target, c.pattern, true)
			defer raw.session.Close()
			go text.read(t.Context())
			go raw.read(t.Context())
			if out, err := exec.Command(target, c.args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text.finish(t)
			raw.finish(t)
			raw.compare(t, text.byGoroutine)
		})
	}
}

// TestKernelRawEqualsText reads what one session has recorded twice: as the text of the
// trace file, which consumes nothing, and then raw. Calls are the same, as finely as text tells their times.
func TestKernelRawEqualsText(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	for _, name := range []string{"lookup", "flood"} {
		t.Run(name, func(t *testing.T) {
			target := fixture.Build(t, name)
			s := sessionCalls{values: true}
			s.start(t, f, target, "main.*", true)
			defer s.session.Close()
			instance := filepath.Join(f.Dir(), "instances", s.session.Name)
			clock, err := os.ReadFile(filepath.Join(instance, "trace_clock"))
			noError(t, err)
			// Text rounds the times of other clocks to microseconds (kernel/trace/trace.h, ns2usecs).
			if s.step = 1000; strings.Contains(string(clock), "["+machine.Counter+"]") {
				s.step = 1
			}
			if out, err := exec.Command(target, "-n", "1009").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			noError(t, s.session.Pause())
			trace, err := os.ReadFile(filepath.Join(instance, "trace"))
			noError(t, err)
			text := sessionCalls{step: s.step, plan: s.plan}
			text.from(t, textSource{bytes.NewReader(trace)}, func(_, printed int) int { return printed })
			text.read(t.Context())
			text.stream.Finish()
			go s.read(t.Context())
			s.finish(t)
			s.compare(t, text.byGoroutine)
		})
	}
}

func clip(lines []string) string { return strings.Join(lines[:min(len(lines), 3)], "\n") }

// sessionCalls are the calls that a session has seen.
type sessionCalls struct {
	values      bool   // are fetched
	step        uint64 // times are compared as multiples of it, unless it is 0
	plan        *uprobe.Plan
	session     *tracefs.Session
	stream      *pairing.Stream
	byGoroutine map[string][]string
	done        chan error
}

func (s *sessionCalls) start(t *testing.T, f *tracefs.FS, target, pattern string, raw bool) {
	t.Helper()
	var out bytes.Buffer
	e := newEnv(&out, &out)
	o := session.NewOptions(&e.Env)
	o.Binary, o.Funcs, o.Signatures, o.Fetch = target, []string{pattern}, true, view.FetchFlags{StrLen: 64, Items: 8}
	sel, err := o.Resolve(e.Say)
	noError(t, err)
	t.Cleanup(func() { sel.Binary.Close() })
	lines, err := view.NewLines(o.View())
	noError(t, err)
	var values run.Values
	if s.values {
		if values, err = lines.Values(sel, f.Features()); err != nil {
			t.Fatal(err)
		}
	}
	if s.plan, err = uprobe.New(sel.Binary, sel.Funcs, uprobe.Options{Features: f.Features(), Values: values}); err != nil {
		t.Fatal(err)
	}
	if s.session, err = tracefs.Start(t.Context(), f, s.plan.Target(), uprobe.TraceEvents(s.plan.Events), tracefs.Options{Raw: raw}); err != nil {
		t.Fatal(err)
	}
	s.from(t, s.session, s.session.Process)
}

// textSource is a trace in memory.
type textSource struct{ io.Reader }

func (s textSource) Read(_ context.Context, buf []byte) (int, error) { return s.Reader.Read(buf) }

// from makes the stream, whose calls are kept.
func (s *sessionCalls) from(t *testing.T, src parse.Source, find func(tid, printed int) int) {
	t.Helper()
	s.byGoroutine, s.done = make(map[string][]string), make(chan error, 1)
	own := &pairing.Selected{Biases: pairing.NewBiases(s.plan, false), Find: find}
	var err error
	if s.stream, err = pairing.NewStream(s.plan, src, own, s, pairing.Options{}); err != nil {
		t.Fatal(err)
	}
}

// Return keeps a call.
func (s *sessionCalls) Return(c *pairing.Call) {
	g := fmt.Sprint(c.PID, " ", c.Goid)
	if c.Goid == 0 {
		g += fmt.Sprint(" thread ", c.TID)
	}
	line := fmt.Sprint(s.plan.Funcs[c.Func].Name, " ", c.TID, c.Depth, c.Outcome, c.Args, c.Results)
	if s.step > 0 {
		line += fmt.Sprint(c.CPU, (c.Start+s.step/2)/s.step, (c.End+s.step/2)/s.step)
	}
	s.byGoroutine[g] = append(s.byGoroutine[g], line)
}

func (s *sessionCalls) Entry(*pairing.Call)          {}
func (s *sessionCalls) Counted(int, int)             {}
func (s *sessionCalls) Kernel(*pairing.KernelEvent)  {}
func (s *sessionCalls) Goroutine(*pairing.Goroutine) {}

// read reads until the session has ended.
func (s *sessionCalls) read(ctx context.Context) {
	var err error
	for err == nil {
		_, err = s.stream.Read(ctx)
	}
	s.done <- err
}

// compare compares with the calls of each goroutine as seen in text.
func (s *sessionCalls) compare(t *testing.T, text map[string][]string) {
	t.Helper()
	calls := 0
	for g, want := range text {
		calls += len(want)
		if got := s.byGoroutine[g]; !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("goroutine %s: of %d calls by raw pages and %d by text, these are the first that differ:\n%s\nby text\n%s",
				g, len(got), len(want), clip(got[i:]), clip(want[i:]))
		}
	}
	if len(s.byGoroutine) != len(text) || calls < 1000 {
		t.Errorf("%d goroutines by raw pages, %d by text, with %d calls", len(s.byGoroutine), len(text), calls)
	}
}

// finish waits until all has been read.
func (s *sessionCalls) finish(t *testing.T) {
	t.Helper()
	s.session.Stop()
	if err := <-s.done; !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	s.stream.Finish()
	unparsed := s.stream.Counts(pairing.Counters{}).Unparsed
	if lost, err := s.session.Overruns(); err != nil || lost+unparsed != 0 {
		t.Errorf("%d events lost, %d not understood: %v", lost, unparsed, err)
	}
	if err := s.session.Close(); err != nil {
		t.Error(err)
	}
}
