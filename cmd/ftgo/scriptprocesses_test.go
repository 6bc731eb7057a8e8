package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
)

var signals = map[string]syscall.Signal{
	"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL, "SIGHUP": syscall.SIGHUP,
	"SIGQUIT": syscall.SIGQUIT, "SIGABRT": syscall.SIGABRT,
}

// processCommands returns the commands of scripts for processes that run in the background:
//
//	begin VAR PROGRAM [ARG...]    starts a program, waits for its first line, and sets VAR to its process
//	tell VAR [WORD...]            writes a line to its input; the output is its answer
//	goon VAR [SIGNAL]             closes its input and waits until it ends, with status 0 or by a signal; the output is the rest
//	                              of what it has written
//	static VAR [FLAG...]          builds ftgo as for a release, or with other flags of go build
//	launch VAR PROGRAM ARG...     starts a program that is ftgo, or executes it
//	await VAR TEXT                waits until it has written a line with a text to standard error
//	beside VAR PROGRAM ARG...     is launch, and waits until the probes are in place
//	hits VAR                      waits until its probes are hit
//	end [-N] VAR [SIGNAL]         waits until it ends, by itself or by a signal, with status 0 or N, and fails if it has left
//	                              anything in the kernel
//	serving VAR                   waits until an ftgo export that launch has started serves metrics
//	metric VAR NAME N             waits until a metric has a value, and fails if a counter gets a larger one
//	processes VAR N               waits until N processes run what it probes
//	cgroup VAR KIND NAME          makes a control group, in a hierarchy of kind cgroup or cgroup2, and sets VAR to its path
//	contain VAR GROUP STEP...     starts testdata/family in a container of a control group, and sets VAR to its process
//	overlay DIR OPTIONS           makes a folder and mounts overlayfs there
//	recorder FILE ARG...          writes the script of ftgo script ARG... for the running kernel
//	shell [-N] FILE ARG...        runs it in dash, or in busybox if $sh is that, and fails unless its status is 0, or N, or if it
//	                              has left anything
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
	// status returns the wanted exit status and the other arguments.
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
		"static": func(ts *testscript.TestScript, _ bool, args []string) {
			if len(args) > 1 {
				ts.Setenv(args[0], fixture.Command(scriptT(ts), "cmd/ftgo", args[1:]...))
			} else {
				ts.Setenv(args[0], static(t))
			}
		},
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
		"overlay": func(ts *testscript.TestScript, _ bool, args []string) {
			root := ts.MkAbs(args[0])
			ts.Check(os.Mkdir(root, 0o755))
			if err := syscall.Mount("overlay", root, "overlay", 0, args[1]); err != nil {
				scriptT(ts).Skipf("mount an overlay: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(root, syscall.MNT_DETACH) })
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
