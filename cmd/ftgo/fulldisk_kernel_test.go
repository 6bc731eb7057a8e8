package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// writing are the commands that write data while, or after, they probe, in each format.
func writing() (commands [][]string) {
	for _, format := range []string{"table", "json", "csv", "tsv"} {
		for _, command := range [][]string{{"probe"}, {"count"}, {"trace"}, {"trace", "--stack"}} {
			commands = append(commands, append(command, "-o", format))
		}
	}
	return append(commands, []string{"probe", "--stack", "-o", "folded"}, []string{"probe", "--stack", "-o", "pprof"}, []string{"probe", "-i", "0.01"},
		[]string{"trace", "--tree"}, []string{"trace", "-o", "chrome"}, []string{"trace", "--with", "sched:sched_switch"},
		[]string{"watch", "--at", "main.add"})
}

// onGreet are the arguments for a command on a target.
func onGreet(greet string, command []string) []string {
	function := "main.add"
	if command[0] == "watch" {
		function = "main.counter"
	}
	return append(slices.Clip(command), greet, function, "--", greet, "-every", "1ms")
}

// TestKernelFullDisk: that data can't be written is told in one line, once, and nothing is left.
func TestKernelFullDisk(t *testing.T) {
	f := tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	for _, command := range writing() {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			eventsOf(t, f, command...)
			t.Parallel()
			r := ftgo(t, onGreet(greet, append(slices.Clip(command), "-w", "/dev/full"))...)
			if n := strings.Count(r.stderr, "no space left on device"); n != 1 || r.code != cli.ExitFailed {
				t.Errorf("status %d, told %d times\n%s", r.code, n, r.stderr)
			}
		})
	}
}

// TestKernelClosedPipe: a reader who has gone has what it wanted, and nothing is left.
func TestKernelClosedPipe(t *testing.T) {
	f := tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	for _, command := range writing() {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			eventsOf(t, f, command...)
			t.Parallel()
			read, write, err := os.Pipe()
			noError(t, err)
			read.Close()
			defer write.Close()
			var errs bytes.Buffer
			if code := execute(t.Context(), onGreet(greet, command), write, &errs); code != cli.ExitOK || strings.Contains(errs.String(), "pipe") {
				t.Errorf("status %d\n%s", code, errs.String())
			}
		})
	}
}

// TestFullDiskWithoutProbes: as for all that prints.
func TestFullDiskWithoutProbes(t *testing.T) {
	greet := fixture.Build(t, "greet")
	for _, args := range [][]string{
		{"help"}, {"help", "probe"}, {"version"}, {"completion", "bash"}, {"list", greet, "main.*"}, {"list", "-o", "json", greet, "main.*"}, {"probe", "--dry-run", greet, "main.add"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		noError(t, err)
		var errs bytes.Buffer
		code := execute(t.Context(), args, full, &errs)
		full.Close()
		if code != cli.ExitFailed || strings.Count(errs.String(), "no space left on device") != 1 {
			t.Errorf("%q: status %d\n%s", args, code, errs.String())
		}
	}
}
