package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestKernelTopSoon: numbers come before all functions are probed, and the calls of those that are probed
// later are counted exactly from then on.
func TestKernelTopSoon(t *testing.T) {
	f := needsAppend(t)
	const again = "FTGO_TEST_FIRST"
	if pid := os.Getenv(again); pid != "" {
		e := newEnv(os.Stdout, os.Stderr)
		e.First = 1
		os.Exit(runCommand(context.Background(), e, []string{"top", "-i", "0.2", "--budget", "0", "-p", pid, "main.c0?"}))
	}
	target := startOnDemand(t, fixture.Build(t, "paced"), "-threads", "0")
	m := newTmux(t)
	m.run(fmt.Sprintf("%s=%d exec %s -test.run=^%s$", again, target.Process.Pid, os.Args[0], t.Name()))
	m.wait(", 10 functions, 0 of them called")
	pid := m.shell()
	target.call(0, 7)
	target.call(9, 5)
	m.until("exact calls", func(screen string) bool {
		return regexp.MustCompile(`main\.c00 +7 `).MatchString(screen) && regexp.MustCompile(`main\.c09 +[≈≥]?5 `).MatchString(screen)
	})
	target.call(9, 200)
	m.until("exact calls of what is timed", func(screen string) bool { return regexp.MustCompile(`main\.c09 +[≈≥]?205 `).MatchString(screen) })
	m.do("send-keys", "q")
	ended(t, pid)
	nothingOf(t, f, pid)
}

// TestKernelTopEndsSoon: who ends while functions of a large program, which is this test, are still to be
// probed leaves nothing.
func TestKernelTopEndsSoon(t *testing.T) {
	f := needsAppend(t)
	const again = "FTGO_TEST_TICKS"
	if os.Getenv(again) != "" {
		for range time.Tick(time.Millisecond) {
		}
	}
	target := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	target.Env = append(os.Environ(), again+"=1")
	noError(t, target.Start())
	t.Cleanup(func() { target.Process.Kill(); target.Wait() })
	m := newTmux(t)
	before := m.modes()
	for _, end := range []struct{ on, how string }{
		{"placing probes", "C-c"}, {"of them called", "C-c"}, {"of them called", "q"}, {"placing probes", ""}, {"of them called", ""},
	} {
		m.run(fmt.Sprintf("%s top -i 0.2 -p %d '*'", built(t), target.Process.Pid))
		m.wait("ftgo top  ", end.on)
		pid := m.child()
		if end.how != "" {
			m.keys(end.how)
			m.prompt(end.how)
		} else {
			syscall.Kill(pid, syscall.SIGKILL)
			ended(t, pid)
			m = newTmux(t) // the other terminal is left as it was
			m.run(built(t) + " clean; echo cleaned")
			m.wait("cleaned\nhere$")
		}
		if now := m.modes(); now != before {
			t.Errorf("%+v: the terminal was %q and is %q", end, before, now)
		}
		nothingOf(t, f, pid)
	}
	if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", target.Process.Pid)); err != nil || strings.Contains(string(state), ") Z ") {
		t.Errorf("the target has come to harm: %q, %v", state, err)
	}
}
