package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelVanished: a process that loses its breakpoints is told of, and one that does the
// like and keeps them is not.
func TestKernelVanished(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "sheds")
	for _, c := range []struct {
		does  string
		calls int
	}{{"nothing", 106}, {"drop", 53}, {"protect", 106}, {"map", 106}, {"write", 53}, {"replace", 53}} {
		for _, command := range []string{"probe", "count"} {
			t.Run(command+" "+c.does, func(t *testing.T) {
				sheds := family(t, target, c.does)
				p := tracer(t, command, "-o", "json", "-p", sheds.pid(), "main.work")
				if line := sheds.tell(t); !strings.HasPrefix(line, "done") {
					t.Fatalf("%q", line)
				}
				p.Process.Signal(syscall.SIGINT)
				p.vanished(t, sheds.pid(), c.calls)
			})
		}
	}
	t.Run("PROGRAM", func(t *testing.T) {
		cmd := exec.Command(built(t), "count", "-o", "json", target, "main.work", "--", target, "drop")
		in, err := cmd.StdinPipe()
		noError(t, err)
		p := start(t, cmd)
		p.says(t, "ready")
		fmt.Fprintln(in)
		p.says(t, "done")
		p.Process.Signal(syscall.SIGINT)
		_, pid, _ := strings.Cut(p.err.String(), "ready ")
		pid, _, _ = strings.Cut(pid, "\n")
		p.vanished(t, pid, 53)
	})
}

// vanished waits for a tracer, which has lost the calls of a process from the 54th on, or none.
func (p *child) vanished(t *testing.T, pid string, calls int) {
	t.Helper()
	p.endsWell(t)
	told := 0
	if calls == 53 {
		told = 1
	}
	said := strings.Count(p.err.String(), "probes have vanished from process "+pid+", ")
	listed := strings.Count(p.out.String(), `"vanished":[`+pid+`]`)
	if said != told || listed != told || !strings.Contains(p.out.String(), fmt.Sprintf(`"calls":%d,`, calls)) {
		t.Errorf("said %d and listed %d times, want %d, and %d calls\n%s%s", said, listed, told, calls, p.out.String(), p.err.String())
	}
}
