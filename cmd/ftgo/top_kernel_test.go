package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	screen := ""
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if screen = m.screen(); is(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("no %s within a minute:\n%s", what, screen)
		}
	}
}

// prompt waits until what the shell has run has ended.
func (m *tmux) prompt(after string) {
	m.t.Helper()
	m.until("prompt after "+after, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "here$") })
}

// run types a command on a terminal that is clear.
func (m *tmux) run(line string) {
	m.t.Helper()
	m.keys("clear; echo clear", "Enter") // a terminal that is new looks like one that was cleared
	m.until("clear terminal", func(screen string) bool { return strings.TrimSpace(screen) == "clear\nhere$" })
	m.keys(line, "Enter")
}

// modes are what the terminal and its line are set to.
func (m *tmux) modes() string {
	m.t.Helper()
	m.run("stty -g; echo told")
	screen := m.wait("told\nhere$")
	return strings.Join(strings.Fields(screen)[:7], " ") + " " + m.do("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag} #{wrap_flag}")
}

// shell is the shell's process, child the one that it runs.
func (m *tmux) shell() int {
	pid, err := strconv.Atoi(m.do("display-message", "-p", "#{pane_pid}"))
	noError(m.t, err)
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
	waitFor(t, "its end", func() bool { return syscall.Kill(pid, 0) != nil })
}

// TestKernelTop looks through a program on a screen, and ends in each way that there is: the screen is as
// it should be, the terminal is as it was before, and the kernel has nothing left.
func TestKernelTop(t *testing.T) {
	f := needsAppend(t)
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
		m.prompt(how)
		if now := m.modes(); now != before {
			t.Errorf("%s: the terminal was %q and is %q", how, before, now)
		}
	}

	pid := again()
	m.wait("main.tick", "↓TOTAL", "CALLS", "RATE/s", "SELF", "P50", "P99", "of its CPU time", "budget 15%", "Enter opens")
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
	m.wait("KEYS", "sort by the next column", "go")
	m.do("resize-window", "-x", "80", "-y", "10")
	m.wait("KEYS", "1 to 9 of ", "others go back")
	m.keys("G")
	m.until("end of the keys", func(screen string) bool {
		return !strings.Contains(screen, "KEYS") && strings.Contains(screen, "others go back")
	})
	m.keys("x")
	m.do("resize-window", "-x", "80", "-y", "24")
	m.wait("main.tick", "Enter opens")
	m.keys("p")
	paused := m.wait("paused, p goes on")
	m.keys("Enter")
	m.wait("placing probes")
	m.wait("LATENCY, a column for each 200ms", "CALLERS, by time", "main.main < runtime.main", "SLOWEST CALLS", "(n=", "running", "waiting", "Esc goes back")
	m.until("heat strip", func(screen string) bool { return strings.ContainsAny(screen, "░▒▓█") })
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
			return len(lines) == size[1] && strings.Contains(lines[len(lines)-1], "since the last") && strings.Contains(screen, "main.tick") && (size[0] < 200 || strings.Contains(screen, "TIMED"))
		})
	}
	another := server(t, fixture.Build(t, "server"))
	m.wait(fmt.Sprintf("process %d runs the same file: its calls are counted, too", another.Process.Pid))
	another.Process.Kill()
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

	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		pid = again()
		target.Process.Signal(end)
		target.Wait()
		m.wait(fmt.Sprint(target.Process.Pid)+" has ended", "main.tick")
		m.keys("q")
		back("the program's end by " + end.String())
		nothingOf(t, f, pid)
		target = server(t, fixture.Build(t, "server"))
		top = fmt.Sprintf("%s top -i 0.2 -p %d 'main.*'", built(t), target.Process.Pid)
	}

	pid = again()
	m.do("kill-server")
	ended(t, pid)
	nothingOf(t, f, pid)
}

// TestKernelTopChooses: without arguments a process is chosen. Clicks do what keys do, and ASCII is enough.
func TestKernelTopChooses(t *testing.T) {
	f := needsAppend(t)
	path := fixture.Build(t, "server")
	other := server(t, path)
	target := server(t, path)
	m := newTmux(t)
	m.run("LC_ALL=C NO_COLOR=1 " + built(t) + " top -i 0.2")
	m.wait("which process?", "PROGRAM", "vCPU", "PID", "Enter chooses")
	click := func(screen, text string) {
		t.Helper()
		for y, line := range strings.Split(screen, "\n") {
			if x := strings.Index(line, text); x >= 0 {
				m.keys("-l", fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%[1]d;%[2]dm", x+1, y+1))
				return
			}
		}
		t.Fatalf("no %s in\n%s", text, screen)
	}
	m.keys("/"+filepath.Base(path), "Enter")
	row := fmt.Sprint(" ", target.Process.Pid)
	screen := m.wait("with "+filepath.Base(path), row, fmt.Sprint(" ", other.Process.Pid))
	click(screen, row)
	screen = m.until("chosen row", func(screen string) bool {
		return strings.Contains(screen, ">") && strings.HasSuffix(strings.Split(screen[strings.Index(screen, "\n>")+1:], "\n")[0], row)
	})
	click(screen, row)
	pid := m.child()
	screen = m.wait(fmt.Sprintf("ftgo top  %s %d", filepath.Base(path)[:15], target.Process.Pid), "main.tick", "1 timed", "vTOTAL")
	click(screen, "RATE/s")
	screen = m.wait("vRATE/s")
	if strings.ContainsFunc(screen, func(r rune) bool { return r > 0x7f }) {
		t.Errorf("more than ASCII in\n%s", screen)
	}
	if colours := m.do("capture-pane", "-p", "-e"); regexp.MustCompile(`\x1b\[([0-9;]*;)?[34][0-8]`).MatchString(colours) {
		t.Errorf("colours in %q", colours) // 39 and 49 are those of the terminal
	}
	m.keys("w")
	m.wait("WAIT", "main.tick", "1 timed")
	click(screen, "main.tick") // which is chosen
	m.wait("SLOWEST CALLS", "(n=")
	m.keys("C-c")
	m.prompt("Ctrl-C")
	nothingOf(t, f, pid)
}

// TestKernelTopJSON: -o json writes what the screen shows, and the books balance.
func TestKernelTopJSON(t *testing.T) {
	tracetest.Kernel(t)
	target := server(t, fixture.Build(t, "server"))
	r := ran(t, "top", "-o", "json", "-i", "0.1", "-d", "1", "-p", fmt.Sprint(target.Process.Pid), "main.*")
	type object struct {
		Type, Function        string
		Calls, Completed      uint64
		Counted               uint64 `json:"counted_only"`
		Interval              int
		Total                 bool
		Self                  int64 `json:"self_ns"` // absent where probes may be nearly all of a call
		NS                    struct{ Sum int64 }
		Hits, Delivered, Lost uint64
		Functions             int
	}
	var calls, total uint64
	var summaries int
	var last object
	for line := range strings.Lines(r.stdout) {
		last = object{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case last.Self > last.NS.Sum:
			t.Errorf("%d of itself, of %d: %s", last.Self, last.NS.Sum, line)
		case last.Type == "summary":
			summaries++
		case last.Function != "main.tick":
		case last.Total:
			total = last.Calls
		default:
			calls += last.Calls
		}
	}
	if total == 0 || calls != total || summaries < 3 || last.Type != "summary" || last.Interval != 0 || last.Hits != last.Delivered+last.Lost || last.Functions == 0 {
		t.Errorf("%d calls in intervals of %d, %d summaries, the last %+v", calls, total, summaries, last)
	}
	if got := ftgo(t, "top", "-p", fmt.Sprint(target.Process.Pid)); got.code != 2 || !strings.Contains(got.stderr, "standard output is no terminal: -o json") {
		t.Errorf("without a terminal: status %d, %s", got.code, got.stderr)
	}
	if got := ftgo(t, "top", "-o", "json"); got.code != 2 || !strings.Contains(got.stderr, "no BINARY") {
		t.Errorf("without a process: status %d, %s", got.code, got.stderr)
	}
}
