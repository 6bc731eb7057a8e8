package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// asksFuncs are the functions of testdata/asks that ask the kernel.
var asksFuncs = []string{"main.once", "main.around", "main.relay", "main.other", "main.poke"}

// eventsOf skips a test of a command that asks for kernel events, where the kernel records none
// of single processes.
func eventsOf(t *testing.T, f *tracefs.FS, command ...string) {
	t.Helper()
	if slices.Contains(command, "--with") || slices.Contains(command, "--sched") {
		tracetest.Needs(t, f.Features().EventFork, "kernel events of single processes (event-fork, Linux 4.9)")
	}
}

// withSyscalls returns the test's tracefs, if the kernel has events of system calls.
func withSyscalls(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(tracetest.Kernel(t).Dir() + "/events/syscalls"); err != nil {
		t.Skip("this kernel has no events of system calls (CONFIG_FTRACE_SYSCALLS)")
	}
}

// TestKernelWith: each system call that the target makes is shown once, in the function and
// on the goroutine that made it, wherever the goroutine ran; with either reader.
func TestKernelWith(t *testing.T) {
	withSyscalls(t)
	const n = 101
	for _, c := range []struct{ reader, version string }{{"pipe", fixture.Current}, {"raw", fixture.Current}, {"pipe", "1.16.15"}, {"pipe", "1.5.4"}} {
		t.Run(c.reader+" "+c.version, func(t *testing.T) {
			target := fixture.BuildWith(t, c.version, "asks")
			t.Setenv(readerVar, c.reader)
			args := append([]string{"trace", "-o", "json",
				"--with", "syscalls:sys_enter_getp[pg]*,syscalls:sys_enter_getsid", "--with", "signal:signal_generate", target}, asksFuncs...)
			r := ran(t, append(args, "--", target, "-n", fmt.Sprint(n))...)
			got := make(map[string]int)
			goids := make(map[string]map[any]int)
			for _, e := range jsonLines(t, r.stdout, "event") {
				if fields := e["fields"].(map[string]any); e["name"] == "signal:signal_generate" && fields["sig"] != 10.0 {
					continue // the runtime's own
				}
				key := strings.TrimPrefix(fmt.Sprint(e["name"], " ", e["function"]), "syscalls:sys_enter_")
				if got[key]++; goids[key] == nil {
					goids[key] = make(map[any]int)
				}
				goids[key][e["goid"]]++
			}
			want := map[string]int{
				"getppid main.once": 3 * n, "getppid main.around": 2 * n, "getppid main.relay": 4 * n,
				"getpgid main.other": n, "getsid <nil>": n, "signal:signal_generate main.poke": n,
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("events\n%v\nwant\n%v", got, want)
			}
			relays := goids["getppid main.relay"]
			for _, count := range relays {
				if len(relays) != 4 || count != n {
					t.Errorf("main.relay asked, by goroutine: %v", relays)
				}
			}
			s := jsonLines(t, r.stdout, "summary")[0]
			books := s["events"].(map[string]any)
			if s["lost"] != 0.0 || s["delivered"] != s["hits"] || books["lost"] != 0.0 || books["unparsed"] != 0.0 || books["delivered"].(float64) < 12*n {
				t.Errorf("summary %v", s)
			}
		})
	}
}

// TestKernelWithCoroutine: coroutines change places without the scheduler. What a thread runs
// then is not known until its next hit, and nothing is attributed to the wrong side.
func TestKernelWithCoroutine(t *testing.T) {
	fixture.NeedLong(t)
	withSyscalls(t)
	target := fixture.Build(t, "pull")
	r := ftgo(t, "trace", "-o", "json", "--with", "syscalls:sys_enter_getp[pg]*", target, "main.pull", "main.generate", "main.seen", "--", target)
	got := make(map[string]int)
	for _, e := range jsonLines(t, r.stdout, "event") {
		_, known := e["goid"]
		got[strings.TrimPrefix(fmt.Sprint(e["name"], " ", e["function"], " ", known), "syscalls:sys_enter_")]++
	}
	// At least what follows a hit is known: main.seen in main.pull, the begin of
	// main.generate. A goroutine that the scheduler has taken off and on again is, too.
	ppid, pgrp := got["getppid main.pull true"], got["getpgid main.generate true"]
	if r.code != 0 || ppid < 101 || pgrp < 1 || ppid+got["getppid <nil> false"] != 202 || pgrp+got["getpgid <nil> false"] != 202 {
		t.Errorf("status %d, events %v\n%s", r.code, got, r.stderr)
	}
}

// TestKernelWithLoss: kernel events that find no room are told apart from hits, whose books
// balance for themselves.
func TestKernelWithLoss(t *testing.T) {
	fixture.NeedLong(t)
	withSyscalls(t)
	target := fixture.Build(t, "asks")
	r := ftgo(t, "probe", "-o", "json", "--buffer", "8K", "--with", "raw_syscalls:*", target, "main.once", "--", target, "-n", "2003")
	s := jsonLines(t, r.stdout, "summary")[0]
	books := s["events"].(map[string]any)
	calls := jsonLines(t, r.stdout, "function")[0]["calls"]
	if r.code != 0 || s["delivered"].(float64)+s["lost"].(float64) != s["hits"] || calls != 3*2003.0 || books["lost"] == 0.0 || books["delivered"] == 0.0 {
		t.Errorf("status %d, %v calls, summary %v\n%s", r.code, calls, s, r.stderr)
	}
}

// TestKernelWithCounts: probe counts events in the function that they happened in.
func TestKernelWithCounts(t *testing.T) {
	withSyscalls(t)
	const n = 101
	target := fixture.Build(t, "asks")
	r := ftgo(t, "probe", "-o", "json", "--with", "syscalls:sys_enter_getp[pg]*", target, "main.once", "main.around", "main.relay", "main.other", "--", target, "-n", fmt.Sprint(n))
	want := map[string]string{
		"main.once":   "map[syscalls:sys_enter_getppid:303]",
		"main.around": "map[syscalls:sys_enter_getppid:202]",
		"main.relay":  "map[syscalls:sys_enter_getppid:404]",
		"main.other":  "map[syscalls:sys_enter_getpgid:101]",
	}
	functions := jsonLines(t, r.stdout, "function")
	if r.code != 0 || len(functions) != len(want) {
		t.Fatalf("status %d, %d functions\n%s", r.code, len(functions), r.stderr)
	}
	for _, f := range functions {
		if got := fmt.Sprint(f["events"]); got != want[f["function"].(string)] {
			t.Errorf("%s: %s", f["function"], got)
		}
	}
}

// TestKernelWithC: without goroutines a thread's calls are what it was doing.
func TestKernelWithC(t *testing.T) {
	withSyscalls(t)
	target := fixture.Compile(t, "gcc", "c/asks.c", "-g", "-O1")
	r := ftgo(t, "probe", "-o", "json", "--with", "syscalls:sys_enter_getppid", target, "ask", "twice", "--", target, "13")
	got := make(map[any]string)
	for _, f := range jsonLines(t, r.stdout, "function") {
		got[f["function"]] = fmt.Sprint(f["events"])
	}
	if r.code != 0 || got["ask"] != "map[syscalls:sys_enter_getppid:26]" || got["twice"] != "map[syscalls:sys_enter_getppid:13]" {
		t.Errorf("status %d, %v\n%s", r.code, got, r.stderr)
	}
}
