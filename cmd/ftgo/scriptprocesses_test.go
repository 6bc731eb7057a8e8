package main

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/internal/tracefs"
)

var signals = map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL, "SIGHUP": syscall.SIGHUP}

// processCommands are the commands of scripts for what runs beside others:
//
//	begin VAR PROGRAM [ARG...]    a program runs, and has written its first line; $VAR is its process
//	tell VAR [WORD...]            it gets a line, and its answer is the output
//	goon VAR [SIGNAL]             its input ends, and so does it, with status 0 or by a signal; the output is the rest of what
//	                              it has written
//	static VAR                    $VAR is ftgo as releases have it
//	launch VAR PROGRAM ARG...     a program runs that is ftgo, or becomes it
//	await VAR TEXT                it has written a line with a text to standard error
//	beside VAR PROGRAM ARG...     is launch, and await of the line that says that the probes are in place
//	hits VAR                      its probes are hit
//	end [-N] VAR [SIGNAL]         that ends, by a signal or by itself, with status N, and has left nothing in the kernel
//	serving VAR                   ftgo export, which launch has started, serves metrics
//	metric VAR NAME N             one of them comes to a value; a counter must not have more
//	processes VAR N               so many processes run what it probes
//	cgroup VAR KIND NAME          $VAR is a control group of a hierarchy of some kind, which cgroup or cgroup2 is
//	contain VAR GROUP STEP...     testdata/family does steps in a container of a control group; $VAR is its process
//	recorder FILE ARG...          FILE is the script of ftgo script ARG..., for the running kernel
//	shell [-N] FILE ARG...        a shell, which is dash unless $sh is busybox, runs it with status N, and nothing is left
func processCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	members, tracers, exporters := make(map[string]*member), make(map[string]*child), make(map[string]*exporting)
	shown := func(ts *testscript.TestScript, want string, r result, pid int) {
		ts.Stdout().Write([]byte(r.stdout))
		ts.Stderr().Write([]byte(r.stderr))
		if fmt.Sprint(-r.code) != want {
			ts.Fatalf("status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		nothingOf(t, tracefs.At(tracefsDir(t)), pid)
	}
	// status takes the status that is wanted from arguments.
	status := func(args []string) (want string, others []string) {
		if strings.HasPrefix(args[0], "-") {
			return args[0], args[1:]
		}
		return "0", args
	}
	launch := func(ts *testscript.TestScript, args []string) *child {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir = ts.MkAbs(".")
		p := start(t, cmd)
		tracers[args[0]] = p
		ts.Setenv(args[0], fmt.Sprint(p.Process.Pid))
		return p
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"begin": func(ts *testscript.TestScript, _ bool, args []string) {
			members[args[0]], _ = attended(t, args[1:]...)
			ts.Setenv(args[0], members[args[0]].pid())
		},
		"tell": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Stdout().Write([]byte(members[args[0]].tell(t, strings.Join(args[1:], " "))))
		},
		"goon": func(ts *testscript.TestScript, _ bool, args []string) {
			m := members[args[0]]
			m.in.Close()
			if len(args) > 1 {
				m.Process.Signal(signals[args[1]])
			}
			rest, err := io.ReadAll(m.lines)
			ts.Check(err)
			ts.Stdout().Write(rest)
			if err := m.Wait(); len(args) == 1 {
				ts.Check(err)
			}
		},
		"static": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], static(t)) },
		"launch": func(ts *testscript.TestScript, _ bool, args []string) { launch(ts, args) },
		"await":  func(_ *testscript.TestScript, _ bool, args []string) { tracers[args[0]].says(t, args[1]) },
		"beside": func(ts *testscript.TestScript, _ bool, args []string) { launch(ts, args).says(t, ": probing ") },
		"hits": func(_ *testscript.TestScript, _ bool, args []string) {
			awaitHits(t, tracefs.At(tracefsDir(t)), tracers[args[0]].Process.Pid)
		},
		"end": func(ts *testscript.TestScript, _ bool, args []string) {
			want, args := status(args)
			p := tracers[args[0]]
			if len(args) > 1 {
				p.Process.Signal(signals[args[1]])
			}
			r := p.result(t)
			if by := p.ProcessState.Sys().(syscall.WaitStatus); by.Signaled() {
				r.code = 128 + int(by.Signal())
			}
			shown(ts, want, r, p.Process.Pid)
		},
		"serving": func(_ *testscript.TestScript, _ bool, args []string) {
			exporters[args[0]] = serving(t, tracers[args[0]])
		},
		"metric": func(ts *testscript.TestScript, _ bool, args []string) {
			want, err := strconv.ParseFloat(args[2], 64)
			ts.Check(err)
			exporters[args[0]].comesTo(t, args[1], want)
		},
		"processes": func(ts *testscript.TestScript, _ bool, args []string) {
			want, err := strconv.Atoi(args[1])
			ts.Check(err)
			exporters[args[0]].processes(t, want)
		},
		"cgroup": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], cgroup(t, args[1], args[2]))
		},
		"contain": func(ts *testscript.TestScript, _ bool, args []string) {
			m, inside := contained(t, args[1], args[2:]...)
			members[args[0]] = m
			ts.Setenv(args[0], fmt.Sprint(inside))
		},
		"recorder": func(ts *testscript.TestScript, _ bool, args []string) {
			copyFile(t, scriptFor(t, args[1:]...), ts.MkAbs(args[0]))
		},
		"shell": func(ts *testscript.TestScript, _ bool, args []string) {
			want, args := status(args)
			sh := []string{"dash"}
			if ts.Getenv("sh") == "busybox" {
				sh = []string{"busybox", "sh"}
			}
			if _, err := exec.LookPath(sh[0]); err != nil {
				scriptT(ts).Skip(err)
			}
			cmd := exec.Command(sh[0], slices.Concat(sh[1:], args)...)
			cmd.Dir = ts.MkAbs(".")
			shown(ts, want, outcome(cmd), cmd.Process.Pid)
		},
	}
}
