package main

import (
	"cmp"
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

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/internal/tracefs"
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

// screenCommands returns the commands of scripts for a terminal of 80 columns and 24 lines:
//
//	terminal            makes it, with a shell
//	type LINE VAR       has the shell run a command on the cleared terminal, and sets VAR to its process
//	keys KEY...         presses keys, which have tmux's names
//	screen TEXT...      waits until all texts are on the screen (with "!": until none is); @FILE is the contents of a file,
//	                    ~REGEXP an expression that matches; the output is the screen
//	tmux ARG...         runs a command of tmux
//	gone VAR            waits until a process has ended, and fails if it has left anything
//	back VAR            waits until the shell prompts again, and fails if the terminal is not as it was, or anything is left
func screenCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	var m *tmux
	before := ""
	left := func(ts *testscript.TestScript, name string) {
		pid, err := strconv.Atoi(ts.Getenv(name))
		ts.Check(err)
		ended(t, pid)
		nothingOf(t, tracefs.At(tracefsDir(t)), pid)
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"terminal": func(*testscript.TestScript, bool, []string) { m = newTmux(t); before = m.modes() },
		"type": func(ts *testscript.TestScript, _ bool, args []string) {
			m.run(args[0])
			waitFor(t, "the command", func() bool {
				return strings.TrimSpace(readFile(t, fmt.Sprintf("/proc/%d/task/%[1]d/children", m.shell()))) != ""
			})
			ts.Setenv(args[1], fmt.Sprint(m.child()))
		},
		"keys": func(_ *testscript.TestScript, _ bool, args []string) { m.keys(args...) },
		"tmux": func(ts *testscript.TestScript, _ bool, args []string) { ts.Stdout().Write([]byte(m.do(args...))) },
		"screen": func(ts *testscript.TestScript, neg bool, texts []string) {
			screen := m.until(fmt.Sprintf("%q (%v)", texts, !neg), func(screen string) bool {
				for _, text := range texts {
					file, isFile := strings.CutPrefix(text, "@")
					expr, isExpr := strings.CutPrefix(text, "~")
					switch {
					case isFile:
						text = strings.TrimSpace(ts.ReadFile(file))
					case isExpr:
						text = cmp.Or(regexp.MustCompile(expr).FindString(screen), "\x00")
					}
					if strings.Contains(screen, text) == neg {
						return false
					}
				}
				return true
			})
			ts.Stdout().Write([]byte(screen))
		},
		"back": func(ts *testscript.TestScript, _ bool, args []string) {
			m.prompt("the command")
			if now := m.modes(); now != before {
				ts.Fatalf("the terminal was %q and is %q", before, now)
			}
			left(ts, args[0])
		},
		"gone": func(ts *testscript.TestScript, _ bool, args []string) { left(ts, args[0]) },
	}
}
