package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelWaits: waits are as many as there were, and took as long as the program knows, in
// calls of functions, with their stacks, and all together.
func TestKernelWaits(t *testing.T) {
	eventsOf(t, tracetest.LongKernel(t), "--waits")
	const n = 11
	for _, version := range []string{"1.13.15", "1.20.14", fixture.Current, "1.17.13", "1.23.12", "1.26.8", "1.27.4"} {
		t.Run(version, func(t *testing.T) {
			target, reasons := fixture.BuildWith(t, version, "sched"), schedReasons(version)
			timesRight(t, func() (wrong []string) {
				file := filepath.Join(t.TempDir(), "truth")
				run := func(args ...string) string {
					r := ftgo(t, slices.Concat([]string{"probe", "--waits", "-o", "json"}, args, []string{"--", target, "-n", fmt.Sprint(n), file})...)
					s := jsonLines(t, r.stdout, "summary")
					if r.code != 0 || len(s) != 1 || s[0]["lost"] != 0.0 || s[0]["delivered"] != s[0]["hits"] || s[0]["events"].(map[string]any)["lost"] != 0.0 {
						t.Fatalf("status %d\n%s%s", r.code, r.stdout, r.stderr)
					}
					return r.stdout
				}
				out := run(append([]string{"--stack", target}, schedFuncs[1:8]...)...)
				truth := schedTruth(t, file)
				rows := make(map[string]map[string]any)
				for _, f := range jsonLines(t, out, "function") {
					rows[f["function"].(string)] = f
				}
				stacks := make(map[string]string)
				for _, s := range jsonLines(t, out, "stack") {
					for _, f := range s["stack"].([]any) {
						stacks[s["function"].(string)] += f.(map[string]any)["function"].(string) + " "
					}
				}
				for _, name := range schedFuncs[1:8] {
					reason := "[" + reasons[name] + "]"
					row := rows[reason]
					if row == nil {
						t.Fatalf("%s: no %s\n%s", name, reason, out)
					}
					// What is waited for may be there already, where the machine is slow; a thread sleeps when it likes.
					if calls := row["calls"].(float64); calls != row["completed"] || calls > n && reason != "[syscall]" {
						t.Errorf("%s: %v", name, row)
					} else if calls < n {
						wrong = append(wrong, fmt.Sprintf("%s: %v waits", name, calls))
					}
					var want float64
					for _, p := range truth[name] {
						want += p[2]
					}
					if got := row["ns"].(map[string]any)["sum"].(float64); got < want*0.9 || got > want*1.1 {
						wrong = append(wrong, fmt.Sprintf("%s: %s of %.0f µs, want %.0f", name, reason, got/1000, want/1000))
					}
					if known := reason != "[syscall]" || version >= "1.26"; known && !strings.Contains(stacks[reason], name+" ") {
						t.Errorf("%s: %s from %s", name, reason, stacks[reason])
					}
				}
				if len(rows) != 2*7 || rows["[sleep]"] != nil {
					t.Errorf("rows %v", rows)
				}
				for _, f := range jsonLines(t, run(target), "function") {
					rows[f["function"].(string)] = f
				}
				// In main.mixed and main.panics, and seven that wake main. main.forever waits at the end.
				if all, left := rows["[sleep]"], rows["[chan receive]"]["open"]; all["calls"] != 9.0*n || all["open"] != 0.0 || left == 0.0 {
					t.Errorf("%v, and %v [chan receive] open", all, left)
				}
				return wrong
			})
		})
	}
}

// TestKernelWaitsProfile: in a profile, [runnable] is a frame of its own, of as much time as the program knows.
func TestKernelWaitsProfile(t *testing.T) {
	eventsOf(t, tracetest.LongKernel(t), "--waits")
	target := fixture.Build(t, "sched")
	timesRight(t, func() (wrong []string) {
		dir := t.TempDir()
		file, truth := filepath.Join(dir, "wall.pb.gz"), filepath.Join(dir, "truth")
		if r := ftgo(t, "probe", "-q", "--waits", "-o", "pprof", "-w", file, target, "main.loop", "--", target, "-n", "3", truth); r.code != 0 {
			t.Fatalf("status %d\n%s", r.code, r.stderr)
		}
		out, err := exec.Command("go", "tool", "pprof", "-top", "-unit=ns", file).Output()
		noError(t, err)
		var got float64
		if m := regexp.MustCompile(`(?m)^ *([0-9.]+)ns .* \[runnable\]$`).FindSubmatch(out); m != nil {
			fmt.Sscan(string(m[1]), &got)
		}
		var running, runnable float64
		for _, part := range schedTruth(t, truth)["main.loop"] {
			running, runnable = running+part[0], runnable+part[1]
		}
		if got < runnable*0.9 || got > runnable*1.1 || runnable < running/4 {
			wrong = append(wrong, fmt.Sprintf("%.0f ns [runnable], want %.0f, and %.0f running\n%s", got, runnable, running, out))
		}
		return wrong
	})
}
