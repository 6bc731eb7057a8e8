package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// firstGroup is the group of the first session of a process that has probes: those asked for.
func firstGroup(t *testing.T, f *tracefs.FS, pid int) string {
	t.Helper()
	groups, err := filepath.Glob(fmt.Sprintf("%s/events/ftgo_%d_*", f.Dir(), pid)) // which are sorted
	noError(t, err)
	return filepath.Base(append(groups, "none")[0])
}

// awaitHits waits until probes of a process's run are hit again, by the kernel's count: the first
// hits may be from before the run began to count. What measures costs is another session of it.
func awaitHits(t *testing.T, f *tracefs.FS, pid int) {
	t.Helper()
	first := 0
	waitFor(t, "more hits", func() bool {
		events, err := filepath.Glob(f.Dir() + "/events/" + firstGroup(t, f, pid) + "/e[0-9]*")
		noError(t, err)
		profile := readFile(t, f.Dir()+"/uprobe_profile")
		hits := 0
		for _, event := range events {
			for _, m := range regexp.MustCompile(filepath.Base(event)+` +(\d+)`).FindAllStringSubmatch(profile, -1) {
				n, err := strconv.Atoi(m[1])
				noError(t, err)
				hits += n
			}
		}
		if first == 0 {
			first = hits
		}
		return hits > first
	})
}

// number is a count in JSON.
func number(v any) uint64 {
	f, _ := v.(float64)
	return uint64(f)
}

// TestKernelIntervalsOverAStop: what was called while ftgo was stopped is all of the interval that
// the stop is in, and its rate is over the time that passed.
func TestKernelIntervalsOverAStop(t *testing.T) {
	fixture.NeedLong(t)
	const n = 20011
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	for _, command := range [][]string{{"probe"}, {"raw", "probe"}, {"count"}, {"count", "-n", "1000000"}} {
		data := filepath.Join(t.TempDir(), "data")
		p := tracer(t, append(readBy(t, command), "--budget", "0", "-i", "0.1", "-o", "json", "-w", data, "--buffer", "64M", target, "main.framed")...)
		noError(t, p.Process.Signal(syscall.SIGSTOP))
		waitFor(t, "all threads to stop", func() bool { return stopped(t, p.Process.Pid) })
		began := time.Now()
		executed(t, target, "-n", fmt.Sprint(n), "-g", "1")
		lasted := time.Since(began).Seconds()
		noError(t, p.Process.Signal(syscall.SIGCONT))
		// Three intervals after the one with the calls.
		var rows []map[string]any
		waitFor(t, "intervals after one with calls", func() bool {
			b := readFile(t, data)
			rows = jsonLines(t, b[:strings.LastIndexByte(b, '\n')+1], "function")
			busy := slices.IndexFunc(rows, func(row map[string]any) bool { return number(row["calls"]) > 0 })
			return busy >= 0 && len(rows) >= busy+4
		})
		p.interrupted(t)
		busy := 0
		for _, row := range rows {
			calls, rate := number(row["calls"]), row["rate"].(float64)
			if calls == 0 && number(row["completed"]) == 0 {
				continue
			}
			busy++
			if calls != n || command[0] == "probe" && number(row["completed"]) != n || rate > n/lasted*1.000001 {
				t.Errorf("%q: ftgo was stopped for %.3f s, and an interval has %v", command, lasted, row)
			}
		}
		if busy != 1 {
			t.Errorf("%q: the calls are in %d intervals", command, busy)
		}
		nothingOf(t, f, p.Process.Pid)
	}
}
