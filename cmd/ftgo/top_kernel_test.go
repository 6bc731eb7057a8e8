package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// tmux is a shell in a terminal that tmux makes.
type tmux struct {
	t      *testing.T
	socket string
}

// newTmux starts a shell on a terminal of 80 columns and 24 lines.
func newTmux(t *testing.T) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip(err)
	}
	m := &tmux{t, filepath.Join(t.TempDir(), "tmux")}
	m.do("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "env LC_ALL=C.UTF-8 PS1='here$ ' HOME=/nonexistent dash")
	t.Cleanup(func() { exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	m.wait("here$")
	return m
}

// do runs a command of tmux.
func (m *tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// keys types keys, by tmux's names where they have one.
func (m *tmux) keys(keys ...string) {
	m.t.Helper()
	m.do(append([]string{"send-keys"}, keys...)...)
}

// screen is what is on the terminal.
func (m *tmux) screen() string {
	m.t.Helper()
	return m.do("capture-pane", "-p")
}

// wait waits until all texts are on the terminal, and returns what is.
func (m *tmux) wait(texts ...string) string {
	m.t.Helper()
	return m.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// until waits until the terminal shows what is wanted.
func (m *tmux) until(what string, is func(screen string) bool) string {
	m.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		screen := m.screen()
		if is(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("no %s within a minute:\n%s", what, screen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run types a command on a terminal that is clear.
func (m *tmux) run(line string) {
	m.t.Helper()
	m.keys("clear", "Enter")
	m.until("clear terminal", func(screen string) bool { return strings.TrimSpace(screen) == "here$" })
	m.keys(line, "Enter")
}

// modes are what the terminal and its line are set to.
func (m *tmux) modes() string {
	m.t.Helper()
	m.run("stty -g; echo told")
	screen := m.wait("told\nhere$")
	return strings.Join(strings.Fields(screen)[:6], " ") + " " + m.do("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag} #{wrap_flag}")
}

// shell is the shell's process, child the one that it runs.
func (m *tmux) shell() int {
	pid, err := strconv.Atoi(m.do("display-message", "-p", "#{pane_pid}"))
	if err != nil {
		m.t.Fatal(err)
	}
	return pid
}

func (m *tmux) child() int {
	m.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", m.shell()))
	pid, cerr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || cerr != nil {
		m.t.Fatal(err, cerr)
	}
	return pid
}

// ended waits until a process has.
func ended(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d goes on", pid)
		}
	}
}

// TestKernelTop looks through a program on a screen, and ends in each way that there is: the screen is as
// it should be, the terminal is as it was before, and the kernel has nothing left.
func TestKernelTop(t *testing.T) {
	f := tracetest.Kernel(t)
	tracetest.Needs(t, f.Features().Append, "many places of an event (Linux 5.4)")
	target := server(t, fixture.Build(t, "server"))
	m := newTmux(t)
	before := m.modes()
	top := fmt.Sprintf("%s top -i 0.2 -p %d 'main.*'", built(t), target.Process.Pid)
	again := func() (pid int) {
		t.Helper()
		m.run(top)
		m.wait("ftgo top  server", "1 timed", "> main.tick")
		return m.child()
	}
	back := func(how string) {
		t.Helper()
		m.until("prompt after "+how, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "here$") })
		if now := m.modes(); now != before {
			t.Errorf("%s: the terminal was %q and is %q", how, before, now)
		}
	}

	pid := again()
	m.wait("main.tick", "↓TOTAL", "CALLS", "RATE/s", "SELF", "P50", "P99", "of the program's CPU time", "Enter opens")
	m.keys("s")
	m.wait("↓SELF")
	m.keys("S", "S", "S")
	m.wait("↓CALLS")
	m.keys("/", "no such")
	m.until("no row", func(screen string) bool {
		return !strings.Contains(screen, "main.tick") && strings.Contains(screen, "/no such_")
	})
	m.keys("Escape")
	m.keys("/", "TICK", "Enter")
	m.wait("main.tick", "with TICK; ")
	m.keys("d")
	m.wait("since the last refresh")
	m.keys("m")
	m.wait(">+main.tick")
	m.keys("?")
	m.wait("KEYS", "quit", "any key goes back")
	m.keys("x")
	m.wait("main.tick")
	m.keys("p")
	paused := m.wait("paused, p goes on")
	m.keys("Enter")
	m.wait("placing probes")
	m.wait("LATENCY, a column for each 200ms", "█", "CALLERS, by time", "main.main < runtime.main", "SLOWEST CALLS", "(n=", "running", "waiting", "Esc goes back")
	m.keys("Escape")
	m.wait(strings.Split(paused, "\n")[0], "paused, p goes on")
	m.keys("p")
	m.until("progress", func(screen string) bool {
		return strings.Contains(screen, "main.tick") && strings.Split(screen, "\n")[0] != strings.Split(paused, "\n")[0]
	})
	for _, size := range [][2]int{{40, 10}, {200, 50}, {80, 24}} {
		m.do("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		m.until(fmt.Sprint(size), func(screen string) bool {
			lines := strings.Split(screen, "\n")
			return len(lines) == size[1] && strings.Contains(lines[len(lines)-1], "since the last") && strings.Contains(screen, "main.tick") && (size[0] < 200 || strings.Contains(screen, "COUNTED"))
		})
	}
	m.keys("q")
	back("q")
	nothingOf(t, f, pid)

	for _, end := range []struct {
		how string
		do  func()
	}{
		{"Ctrl-C", func() { m.keys("C-c") }},
		{"Ctrl-C while a function is open", func() { m.keys("Enter"); m.wait("SLOWEST CALLS"); m.keys("C-c") }},
		{"SIGTERM", func() { syscall.Kill(m.child(), syscall.SIGTERM) }},
	} {
		pid := again()
		end.do()
		back(end.how)
		nothingOf(t, f, pid)
	}

	pid = again()
	syscall.Kill(pid, syscall.SIGKILL)
	back("SIGKILL")
	m.run(built(t) + " clean; echo cleaned")
	m.wait("cleaned\nhere$")
	nothingOf(t, f, pid)

	pid = again()
	target.Process.Signal(syscall.SIGTERM)
	m.wait(fmt.Sprint(target.Process.Pid)+" has ended", "main.tick")
	m.keys("q")
	back("the program's end")
	nothingOf(t, f, pid)

	target = server(t, fixture.Build(t, "server"))
	top = fmt.Sprintf("%s top -i 0.2 -p %d 'main.*'", built(t), target.Process.Pid)
	pid = again()
	m.do("kill-server")
	ended(t, pid)
	nothingOf(t, f, pid)
}
