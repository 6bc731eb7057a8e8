package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestScriptBudget: functions of a script with a budget have events of their own, unless they are many.
func TestScriptBudget(t *testing.T) {
	path := fixture.Build(t, "paced")
	for _, test := range []struct {
		pattern string
		most    int // of functions that share events
	}{{"main.c0?", 1}, {"main.c??", 2}} {
		r := ftgo(t, "script", "--budget", "5", path, test.pattern)
		_, groups, _ := strings.Cut(r.stdout, "\nbudget=5\nshare=50000\ngroups='")
		groups, _, ok := strings.Cut(groups, "'\n")
		if r.code != 0 || !ok {
			t.Fatalf("%s: status %d\n%s%s", test.pattern, r.code, r.stdout, r.stderr)
		}
		shared := make(map[string]bool)
		for line := range strings.Lines(groups) {
			words := strings.Fields(line)
			runtime := words[1] == "0"
			if cost := words[2]; cost != "1000" && cost != "10000" || runtime != strings.Contains(line, " the runtime") {
				t.Errorf("%s: %q", test.pattern, line)
			}
			if !runtime {
				shared[words[1]] = strings.Contains(line, " and 1 more")
			}
		}
		if len(shared) != map[int]int{1: 10, 2: 50}[test.most] || shared["1"] != (test.most == 2) {
			t.Errorf("%s: %d groups\n%s", test.pattern, len(shared), groups)
		}
	}
}

// TestKernelScriptBudget: a script disarms a function that takes more than its budget. Its calls until then are
// counted exactly, and those of others all the time; report tells which is which. A look may come while it is
// being called: that is tried again.
func TestKernelScriptBudget(t *testing.T) {
	f := tracetest.LongKernel(t)
	path := fixture.Build(t, "paced")
	for _, command := range []string{"probe", "count", "trace"} {
		script := scriptFor(t, "--budget", "0.1", "--as", command, path, "main.c0?")
		for _, sh := range scriptShells(t) {
			t.Run(sh[0]+" "+command, func(t *testing.T) {
				tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
					target := startOnDemand(t, path, "-threads", "0")
					file := filepath.Join(t.TempDir(), "rec")
					out, err := os.Create(file)
					noError(t, err)
					defer out.Close()
					cmd := scripted(t, sh, script, out)
					target.call(0, 5009)
					if !awaitDisarmed(t, f.Dir(), cmd.Process.Pid) {
						wrong = append(wrong, "nothing is disarmed")
					}
					target.awaitProbes("main.c00", false)
					target.call(0, 2003)
					target.call(3, 11)
					cmd.Process.Signal(syscall.SIGTERM)
					if err := cmd.Wait(); err != nil {
						t.Errorf("%v", err)
					}
					nothingOf(t, f, cmd.Process.Pid)
					said := readFile(t, cmd.Stderr.(*os.File).Name())
					if !strings.Contains(said, "main.c00: disarmed after ") {
						wrong = append(wrong, said)
					}
					r := ftgo(t, "report", "-o", "json", file)
					r.succeeded(t)
					var s summaryLine
					noError(t, json.Unmarshal([]byte(r.stdout[strings.LastIndex(strings.TrimSpace(r.stdout), "\n")+1:]), &s))
					if s.Delivered+s.Lost != s.Hits || s.Unparsed != 0 {
						t.Errorf("delivered %d + lost %d is not hits %d; %d not understood", s.Delivered, s.Lost, s.Hits, s.Unparsed)
					}
					if command == "trace" {
						lines := make(map[string]int)
						for _, line := range decoded[struct{ Type, Function string }](t, r.stdout) {
							lines[line.Type+" "+line.Function]++
						}
						if lines["call main.c00"] != 5009 || lines["call main.c03"] != 11 {
							wrong = append(wrong, r.stdout[max(0, len(r.stdout)-2000):])
						}
					} else {
						o := readObserved(t, r.stdout)
						hot, other := o.functions["main.c00"], o.functions["main.c03"]
						n, sampled := hot.seen()
						if m, always := other.seen(); n != 5009 || !sampled || hot.Calls <= n || hot.CallsHigh != nil || m != 11 || always {
							wrong = append(wrong, r.stdout)
						}
					}
					r = ftgo(t, "report", file)
					if told := "1 row watched for part of the time, to keep the budget of 0.10%"; r.code != 0 || !strings.Contains(r.stderr, told) {
						wrong = append(wrong, r.stderr)
					}
					return wrong
				})
			})
		}
	}
}

// awaitDisarmed waits until some of a run's events are disarmed.
func awaitDisarmed(t *testing.T, dir string, pid int) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for _, armed := range armedEvents(t, dir, pid) {
			if !armed {
				return true
			}
		}
	}
	return false
}

// TestKernelScriptBudgetStatus: a script that looks at what probes take ends with PROGRAM's status.
func TestKernelScriptBudgetStatus(t *testing.T) {
	f := tracetest.LongKernel(t)
	script := scriptFor(t, "--budget", "0.1", fixture.Build(t, "paced"), "main.c0?")
	for _, sh := range scriptShells(t) {
		for program, want := range map[string]int{"sleep 2.5; exit 7": 7, "sleep 1.5; kill -s KILL $$": 137} {
			cmd := exec.CommandContext(t.Context(), sh[0], slices.Concat(sh[1:], []string{script, "-w", "/dev/null", "--", "sh", "-c", program})...)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != want {
				t.Errorf("%s: %s: %v, want status %d\n%s", sh[0], program, err, want, out)
			}
			nothingOf(t, f, cmd.Process.Pid)
		}
	}
}
