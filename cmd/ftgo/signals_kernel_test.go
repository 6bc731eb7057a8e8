package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelQuitBesides: Ctrl-\ while probes are placed, and while they are removed. Up to Linux
// 5.4.0 the pipe of either may keep the other's instance, for a clean-up.
func TestKernelQuitBesides(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	placing := start(t, exec.Command(built(t), "probe", "--force", target, "main.*", "runtime.*"))
	waitFor(t, "an instance", func() bool {
		instances, _ := remainsOf(t, f, placing.Process.Pid)
		return instances > 0
	})
	placing.Process.Signal(syscall.SIGQUIT)
	removing := start(t, exec.Command(built(t), "probe", target, "main.*"))
	removing.await(t)
	removing.Process.Signal(syscall.SIGINT)
	removing.Process.Signal(syscall.SIGQUIT)
	for _, p := range []*child{placing, removing} {
		if code := p.end(t); code != 128+int(syscall.SIGQUIT) {
			t.Errorf("%q ended with %d\n%s", p.Args, code, p.err.String())
		}
		checkHeld(t, f, p.Process.Pid, p.err.String())
	}
	checkCleaned(t, f, placing.Process.Pid, removing.Process.Pid)
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

// breaking panics when it is written to.
type breaking struct{}

func (breaking) Write([]byte) (int, error) { panic("broken") }

// TestKernelPanicked: a panic while the probes are armed, and those that costs are measured
// with, leaves nothing, and ends with the status and the text that panics have.
func TestKernelPanicked(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "server")
	const again = "FTGO_TEST_PANICS"
	if os.Getenv(again) != "" {
		execute(context.Background(), []string{"probe", "-o", "json", "-i", "0.02", target, "main.tick"}, breaking{}, os.Stderr)
	}
	server(t, target)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), again+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out.String(), "panic: broken") {
		t.Errorf("%v\n%s", err, out.String())
	}
	nothingOf(t, f, cmd.Process.Pid)
}

// TestKernelTopPanicked: a panic, of a run behind the screen or of what is painted there, is told on a terminal
// that is as it was before, and leaves nothing.
func TestKernelTopPanicked(t *testing.T) {
	f := tracetest.Kernel(t)
	const again = "FTGO_TEST_PANICS"
	switch pid := os.Getenv(again); pid {
	case "":
	case "painting":
		_ = top.Show(context.Background(), func(func(*top.Model) top.Action) bool { panic("broken") }, nil)
	default:
		e := newEnv(os.Stdout, os.Stderr)
		e.Adjust = func(tracefs.Features) tracefs.Features { panic("broken") }
		runCommand(context.Background(), e, []string{"top", "-p", pid})
	}
	target := server(t, fixture.Build(t, "server"))
	for _, what := range []string{"painting", fmt.Sprint(target.Process.Pid)} {
		m := newTmux(t)
		before := m.modes()
		m.run(fmt.Sprintf("sh -c 'echo pid $$; %s=%s exec %s -test.run=^%s$'; echo ended $?", again, what, os.Args[0], t.Name()))
		shown := m.wait("ended 2\nhere$")
		pids := regexp.MustCompile(`(?m)^pid (\d+)`).FindStringSubmatch(m.do("capture-pane", "-p", "-S", "-"))
		if pids == nil {
			t.Fatalf("no process in\n%s", shown)
		}
		pid, _ := strconv.Atoi(pids[1])
		nothingOf(t, f, pid)
		if all := m.do("capture-pane", "-p", "-S", "-"); !strings.Contains(all, "panic: broken") {
			t.Errorf("no panic in\n%s", all)
		}
		if now := m.modes(); now != before {
			t.Errorf("%s: the terminal was %q and is %q", what, before, now)
		}
	}
	target.unharmed(t)
}

// TestKernelTopSoon: numbers come before all functions are probed, and the calls of those that are probed
// later are counted exactly from then on.
func TestKernelTopSoon(t *testing.T) {
	f := needsAppend(t)
	const again = "FTGO_TEST_FIRST"
	if pid := os.Getenv(again); pid != "" {
		e := newEnv(os.Stdout, os.Stderr)
		e.FirstSites = 1
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
