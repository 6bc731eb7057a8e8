package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/collector"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// traced builds testdata/traced, a module of its own that needs OpenTelemetry's SDK.
func traced(t *testing.T, flags ...string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	target, err := fixture.TryBuildWith(t, fixture.Local, "traced", append(flags, "-mod=mod")...)
	for _, offline := range []string{"dial tcp", "no such host", "module lookup disabled"} {
		if err != nil && strings.Contains(err.Error(), offline) {
			t.Skipf("OpenTelemetry's SDK can't be downloaded: %v", err)
		}
	}
	noError(t, err)
	return target
}

// TestKernelTraceIDs checks the trace ID of each of 10,000 requests against the program's own, in a stripped program, too.
func TestKernelTraceIDs(t *testing.T) {
	tracetest.Needs(t, tracetest.LongKernel(t).Features().Arrays, "room for many words (Linux 4.20)")
	const requests = 10_000
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
		target, rows := traced(t, flags...), filepath.Join(t.TempDir(), "rows")
		args := []string{"trace", "--format", "%s %s", "func,traceparent", "--max-lost", "0", "-w", rows, target}
		for _, f := range []string{"main.handle", "main.remote", "main.unsampled"} {
			args = append(args, f+"(ctx context.Context, n int)")
		}
		r := ftgo(t, append(args, "--", target, fmt.Sprint(requests))...)
		r.succeeded(t)
		want := map[string]int{
			"main.remote 00-00000000000000000000000000000007-0000000000000009-00": 1, "main.remote <unreadable: no span in the context>": 1,
		}
		for line := range strings.Lines(r.stdout) {
			if ids := strings.Fields(line); len(ids) == 3 {
				want[fmt.Sprintf("main.handle 00-%s-%s-01", ids[0], ids[1])]++
			} else {
				want[fmt.Sprintf("main.unsampled 00-%s-%s-00", ids[0], ids[1])]++
			}
		}
		text, err := os.ReadFile(rows)
		noError(t, err)
		got := make(map[string]int)
		for line := range strings.Lines(string(text)) {
			got[strings.TrimSpace(line)]++
		}
		if len(want) != requests+3 || !maps.Equal(got, want) {
			for line := range got {
				if want[line] == 0 {
					t.Fatalf("%v: %d lines of %d, among them %s", flags, len(got), len(want), line)
				}
			}
			t.Fatalf("%v: %d lines of %d", flags, len(got), len(want))
		}
	}
}

// TestKernelJoinedSpans checks that the spans of calls are in the traces of the program: a call is below the span of the
// program that it began in, or below the call around it.
func TestKernelJoinedSpans(t *testing.T) {
	tracetest.Needs(t, tracetest.LongKernel(t).Features().Arrays, "room for many words (Linux 4.20)")
	const requests = 1000
	target, c := traced(t), collector.New()
	defer c.Close()
	e := launch(t, "export", "--otlp", c.URL, "--spans", "--budget", "0", target, "main.handle", "main.part", "main.store")
	e.await(t)
	out, err := exec.Command(target, fmt.Sprint(requests)).Output()
	noError(t, err)
	e.Process.Signal(syscall.SIGTERM)
	e.endsWell(t)
	handles, got := make(map[string]string), make(map[string]string) // by trace
	for _, s := range c.Spans {
		if s.Name == "main.handle" {
			handles[s.Trace] = s.ID
		}
	}
	for _, s := range c.Spans {
		parent := s.Parent
		if parent == handles[s.Trace] {
			parent = "handle"
		}
		got[s.Trace+s.Name] = parent
	}
	want := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		if ids := strings.Fields(line); len(ids) == 3 {
			want[ids[0]+"main.handle"], want[ids[0]+"main.part"], want[ids[0]+"main.store"] = ids[1], "handle", ids[2]
		}
	}
	if len(want) != 3*requests || len(c.Spans) != len(want) || !maps.Equal(got, want) || c.Failed != nil {
		t.Errorf("%d spans of %d, %v", len(c.Spans), len(want), c.Failed)
	}
}
