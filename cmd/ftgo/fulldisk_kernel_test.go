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

// TestKernelFullDisk: that data can't be written is told in one line, once, and nothing is left. A reader who has
// gone has what it wanted.
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
			read, write, err := os.Pipe()
			noError(t, err)
			read.Close()
			defer write.Close()
			var errs bytes.Buffer
			if code := execute(t.Context(), onGreet(greet, command), write, &errs); code != cli.ExitOK || strings.Contains(errs.String(), "pipe") {
				t.Errorf("without a reader: status %d\n%s", code, errs.String())
			}
		})
	}
}
