package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// endBy waits for a tracer and tells the signal that has ended it, -1 if none has.
func (p *child) endBy(t *testing.T) syscall.Signal {
	t.Helper()
	p.end(t)
	return p.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

// coreless is a command that leaves no core file, and starts with what else the shell is told.
func coreless(t *testing.T, told string, args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", told + `ulimit -c 0; exec "$@"`, "sh", built(t)}, args...)...)
}

// TestKernelQuitBesides: Ctrl-\ while probes are placed, and while they are removed. Up to Linux
// 5.4.0 the pipe of either may keep the other's instance, for a clean-up.
func TestKernelQuitBesides(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	placing := start(t, coreless(t, "", "probe", "--force", target, "main.*", "runtime.*"))
	waitFor(t, "an instance", func() bool {
		instances, _ := remainsOf(t, f, placing.Process.Pid)
		return instances > 0
	})
	placing.Process.Signal(syscall.SIGQUIT)
	removing := start(t, coreless(t, "", "probe", target, "main.*"))
	removing.await(t)
	removing.Process.Signal(syscall.SIGINT)
	removing.Process.Signal(syscall.SIGQUIT)
	for _, p := range []*child{placing, removing} {
		if by := p.endBy(t); by != syscall.SIGQUIT {
			t.Errorf("%q ended by %v\n%s", p.Args, by, p.err.String())
		}
		checkHeld(t, f, p.Process.Pid, p.err.String())
	}
	checkCleaned(t, f, placing.Process.Pid, removing.Process.Pid)
}

// TestKernelQuitProgram: of a terminal's Ctrl-\ PROGRAM gets a signal of its own, and does
// not outlive ftgo.
func TestKernelQuitProgram(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "server")
	cmd := coreless(t, "", "probe", "-o", "json", target, "main.tick", "--", target)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := start(t, cmd)
	p.says(t, "ready")
	noError(t, syscall.Kill(-p.Process.Pid, syscall.SIGQUIT))
	if by := p.endBy(t); by != syscall.SIGQUIT {
		t.Errorf("ended by %v\n%s", by, p.err.String())
	}
	nothingOf(t, f, p.Process.Pid)
	if err := syscall.Kill(-p.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("PROGRAM: %v", err)
	}
}

// TestSignalsOfOthers: a command gives back those signals alone that ftgo has caught. What tests catch
// under nohup would be ignored again by all that they start.
func TestSignalsOfOthers(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	if r := ftgo(t, "version"); r.code != 0 {
		t.Fatal(r)
	}
	noError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	select {
	case <-caught:
	case <-time.After(patience):
		t.Error("SIGHUP is not caught any more")
	}
}

// TestKernelNohup: what is to ignore SIGHUP does so.
func TestKernelNohup(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "server")
	p := start(t, coreless(t, `trap "" HUP; `, "count", target, "main.tick"))
	p.await(t)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil || !strings.Contains(string(status), "\nSigIgn:\t0000000000000001\n") {
		t.Errorf("%v\n%s", err, status)
	}
	p.Process.Signal(syscall.SIGHUP)
	p.interrupted(t)
}
