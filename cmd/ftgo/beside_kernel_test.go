package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// hitsOf is how often the probes of a process of ftgo's were hit, of any of its sessions.
func hitsOf(t *testing.T, f *tracefs.FS, pid int) (hits uint64) {
	t.Helper()
	read := func(name string) string { return readFile(t, f.Dir()+"/"+name) }
	events := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^p:ftgo_`+strconv.Itoa(pid)+`_\w+/(\w+) `).FindAllStringSubmatch(read("uprobe_events"), -1) {
		events[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m) (\w+) +(\d+)$`).FindAllStringSubmatch(read("uprobe_profile"), -1) {
		if n, err := strconv.ParseUint(m[2], 10, 64); err == nil && events[m[1]] {
			hits += n
		}
	}
	return hits
}

// TestKernelMeasuredApart: of four at once none hits what another measures. Three are stopped, so that hits of their probes would be the
// fourth's.
func TestKernelMeasuredApart(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "flood")
	for _, command := range []string{"probe", "count"} {
		var others []*child
		for range 3 {
			p := tracer(t, command, "-o", "json", "--budget", "0", target, "main.framed")
			waitFor(t, "its own hits", func() bool { return hitsOf(t, f, p.Process.Pid) > 0 })
			noError(t, p.Process.Signal(syscall.SIGSTOP))
			waitFor(t, "all threads to stop", func() bool { return stopped(t, p.Process.Pid) })
			others = append(others, p)
		}
		hits := func() (all []uint64) {
			for _, p := range others {
				all = append(all, hitsOf(t, f, p.Process.Pid))
			}
			return all
		}
		before := hits()
		for _, args := range [][]string{{"doctor"}, {command, "--budget", "0", "-d", "300ms", target, "main.framed"}} {
			if r := outcome(exec.Command(built(t), args...)); r.code != cli.ExitOK && r.code != cli.ExitNothing {
				t.Errorf("%v: status %d\n%s", args, r.code, r.stderr)
			}
		}
		if after := hits(); !slices.Equal(after, before) {
			t.Errorf("%s: hits of what three measure on were %d, and are %d", command, before, after)
		}
		for _, p := range others {
			noError(t, p.Process.Signal(syscall.SIGCONT))
			p.Process.Signal(syscall.SIGINT)
			p.end(t)
		}
	}
}

// stopped tells whether all threads of a process are.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads of %d: %v", pid, err)
	}
	return !slices.ContainsFunc(threads, func(name string) bool {
		b, err := os.ReadFile(name)
		return err == nil && !strings.Contains(string(b), ") T ")
	})
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
