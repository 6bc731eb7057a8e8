package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// topBuffers is how large the ring buffers are that everybody shares, or will be once they are
// used, in units of 64 KB: the kernel rounds. Where they are small because somebody has said so,
// this shows it.
func topBuffers(t *testing.T, f *tracefs.FS) string {
	t.Helper()
	var text strings.Builder
	for _, name := range []string{"buffer_size_kb", "buffer_total_size_kb", "trace_clock", "tracing_on"} {
		b, err := os.ReadFile(f.Dir() + "/" + name)
		noError(t, err)
		var kb, grown int
		if n, _ := fmt.Sscanf(string(b), "%d (expanded: %d)", &kb, &grown); n > 0 && kb > 1 {
			fmt.Fprintln(&text, max(kb, grown)/64)
			continue
		}
		text.Write(b)
	}
	return text.String()
}

// TestKernelNoMemory: ring buffers that are larger than all memory are refused in one
// line, by the kernel before it takes any, and nothing is left of the run.
func TestKernelNoMemory(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	before := topBuffers(t, f)
	for _, command := range [][]string{
		{"probe"}, {"raw", "probe"}, {"probe", "--with", "sched:sched_switch"}, {"probe", "-i", "0.01"}, {"probe", "-p", "1"},
		{"count", "--comm", "greet"}, {"trace"}, {"trace", "-o", "chrome"}, {"watch", "--at", "main.add"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			eventsOf(t, f, command...)
			command := readBy(t, command)
			args := onGreet(greet, append(command, "-q", "--buffer", "1024G"))
			if command[len(command)-1] == "1" { // a process
				target := server(t, fixture.Build(t, "server"))
				args = []string{"probe", "-q", "--buffer", "1024G", "-p", fmt.Sprint(target.Process.Pid), "main.tick"}
			}
			r := ftgo(t, args...)
			if r.code != cli.ExitKernel || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 ||
				!strings.Contains(r.stderr, "make ring buffers of 1073741824 KB per CPU: write ") ||
				strings.Count(r.stderr, "buffer_size_kb") != 1 || !strings.Contains(r.stderr, "cannot allocate memory (") {
				t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
	// It needs none, unless it counts what is recorded.
	want := cli.ExitOK
	if !f.Features().ExactHits {
		want = cli.ExitKernel
	}
	if r := ftgo(t, onGreet(greet, []string{"count", "--buffer", "1024G"})...); r.code != want {
		t.Errorf("count: status %d\n%s", r.code, r.stderr)
	}
	if after := topBuffers(t, f); after != before {
		t.Errorf("at the top level there is\n%s\nand was\n%s", after, before)
	}
}

// TestKernelNoMemoryForScript: nor has the script.
func TestKernelNoMemoryForScript(t *testing.T) {
	f := tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	cmd := exec.Command("sh", scriptFor(t, "--buffer", "1024G", greet, "main.add"), "-d", "60")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitKernel || out.Len() > 0 || errs.String() != "rec.sh: ring buffers of 1073741824 KB for each CPU are not to be had\n" {
		t.Errorf("status %d\n%s%s", code, out.String(), errs.String())
	}
	nothingOf(t, f, cmd.Process.Pid)
}
