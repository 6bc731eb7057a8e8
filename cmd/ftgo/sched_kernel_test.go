package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// parts are nanoseconds running, runnable and waiting.
type parts [3]float64

func (p parts) sum() float64 { return p[0] + p[1] + p[2] }

// schedTruth reads what testdata/sched has found out of its calls.
func schedTruth(t *testing.T, file string) map[string][]parts {
	t.Helper()
	text := readFile(t, file)
	out := make(map[string][]parts)
	for line := range strings.Lines(text) {
		var name string
		var p parts
		if _, err := fmt.Sscan(line, &name, &p[0], &p[1], &p[2]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[name] = append(out[name], p)
	}
	return out
}

// schedParts are those of a JSON line, which are to add up to sum.
func schedParts(t *testing.T, line map[string]any, sum any) (p parts) {
	t.Helper()
	s, ok := line["sched"].(map[string]any)
	if !ok {
		t.Fatalf("nothing divided: %v", line)
	}
	for i, name := range []string{"running", "runnable", "waiting"} {
		p[i] = s[name].(float64)
		if p[i] < 0 {
			t.Errorf("%v: negative", line)
		}
	}
	if p.sum() != sum {
		t.Errorf("%v: %v does not add up to %v", line["function"], p, sum)
	}
	return p
}

// mostWaited is the reason that a JSON line has most of the time of.
func mostWaited(line map[string]any) (reason string) {
	waits, _ := line["sched"].(map[string]any)["waits"].(map[string]any)
	most := 0.0
	for name, ns := range waits {
		if ns := ns.(float64); ns > most {
			reason, most = name, ns
		}
	}
	return reason
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// compareParts wants what was seen of calls to be what they have found out themselves: the
// median difference of each part is to be less than a tenth of what the calls took: a single-stepped
// hit takes 20 µs in some virtual machines, and is no waiting. They may
// have been kept from running for longer than they know: a thread whose time is up loses the
// CPU where a probe is hit, before that is recorded. What is wrong is returned, as it may be
// the machine's fault.
func compareParts(t *testing.T, name string, got, want []parts) (wrong []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d calls have returned, want %d", name, len(got), len(want))
		return nil
	}
	var sums []float64
	var off [3][]float64
	for i := range want {
		sums = append(sums, want[i].sum())
		for k := range off {
			d := want[i][k] - got[i][k]
			if k != 1 {
				d = max(d, -d)
			}
			off[k] = append(off[k], d)
		}
	}
	took := median(sums)
	for k, part := range []string{"running", "runnable", "waiting"} {
		if d := median(off[k]); d > took*0.1 {
			wrong = append(wrong, fmt.Sprintf("%s: %s is off by %.0f µs of %.0f µs\n%.0f\nwant\n%.0f", name, part, d/1000, took/1000, got, want))
		}
	}
	return wrong
}

// schedTries is how often times may be wrong: a virtual CPU that its host takes away is running
// for the kernel, and not for the program's own clock. What ftgo does wrong it does each time.
const schedTries = 12

// timesRight repeats a run until what it returns, wrong times, is nothing. Where the CPU is
// emulated they are but logged: its host takes it away at any instruction, and for longer than
// what is measured.
func timesRight(t *testing.T, run func() (wrong []string)) {
	t.Helper()
	info := readFile(t, "/proc/cpuinfo")
	tries, say := schedTries, t.Errorf
	if strings.Contains(info, "QEMU TCG") {
		tries, say = 2, t.Logf
	}
	tracetest.RightOnce(t, tries, say, run)
}

// schedFuncs are the functions of testdata/sched, those that tell how their time went first.
var schedFuncs = []string{
	"main.mixed", "main.receive", "main.lock", "main.read", "main.send", "main.choose", "main.condition", "main.poll", "main.loop", "main.panics", "main.forever",
}

// schedReasons are what functions of testdata/sched wait for; runtimes before Go 1.20 call all
// kinds of locks one.
func schedReasons(version string) map[string]string {
	reasons := map[string]string{
		"main.mixed": "sleep", "main.receive": "chan receive", "main.lock": "sync.Mutex.Lock", "main.read": "syscall", "main.send": "chan send",
		"main.choose": "select", "main.condition": "sync.Cond.Wait", "main.poll": "IO wait", "main.pull": "coroutine",
	}
	if version == "1.13.15" || version == "1.17.13" {
		reasons["main.lock"] = "semacquire"
	}
	return reasons
}

// TestKernelSched: what goroutines were doing is what they have found out themselves, in all
// versions of the scheduler that differ and with either reader.
func TestKernelSched(t *testing.T) {
	eventsOf(t, tracetest.LongKernel(t), "--sched")
	const n = 11
	for i, version := range []string{"1.13.15", "1.17.13", "1.20.14", "1.23.12", "1.25.0", "1.26.8", "1.27.4", fixture.Current} {
		for k, reader := range []string{"pipe", "raw"} {
			if inBetween := version != "1.17.13" && version != fixture.Current; inBetween && i%2 != k {
				continue
			}
			t.Run(version+" "+reader, func(t *testing.T) {
				t.Setenv(readerVar, reader)
				funcs := schedFuncs
				if version >= "1.23" {
					funcs = append(slices.Clip(funcs), "main.pull")
				}
				target, reasons := fixture.BuildWith(t, version, "sched"), schedReasons(version)
				timesRight(t, func() (wrong []string) {
					file := filepath.Join(t.TempDir(), "truth")
					args := append([]string{"trace", "--sched", "-o", "json", target}, funcs...)
					r := ran(t, append(args, "--", target, "-n", fmt.Sprint(n), file)...)
					got, ends := make(map[string][]parts), make(map[string]int)
					for _, c := range jsonLines(t, r.stdout, "call") {
						name := c["function"].(string)
						if ends[name+" "+c["end"].(string)]++; c["end"] == "return" {
							got[name] = append(got[name], schedParts(t, c, c["ns"]))
							// On a slow machine what is waited for may be there already.
							if why := reasons[name]; why != "" && mostWaited(c) != why {
								wrong = append(wrong, fmt.Sprintf("%s waited for %v, want %s", name, c["sched"], why))
							}
						} else if c["sched"] != nil {
							t.Errorf("%v is divided", c)
						}
					}
					if ends["main.panics unwound"] != n || ends["main.forever open"] != 1 {
						t.Errorf("ends %v", ends)
					}
					want := schedTruth(t, file)
					if len(got) != len(want) || len(want["main.mixed"]) != n {
						t.Errorf("%d functions have returned, want %d", len(got), len(want))
					}
					for name := range want {
						wrong = append(wrong, compareParts(t, name, got[name], want[name])...)
					}
					// Whatever the machine is doing: three quarters of the loop's time were
					// another's turn or the program waited for a CPU.
					for _, p := range got["main.loop"] {
						if p[2] > p.sum()/2 {
							t.Errorf("main.loop, which never waits, waited: %.0f", p)
						}
					}
					s := jsonLines(t, r.stdout, "summary")[0]
					books := s["events"].(map[string]any)
					if s["lost"] != 0.0 || s["delivered"] != s["hits"] || books["lost"] != 0.0 || books["unparsed"] != 0.0 {
						t.Errorf("summary %v", s)
					}
					return wrong
				})
			})
		}
	}
}

// TestKernelSchedProbe: probe adds up what is left when the probes' cost has been taken off;
// the events of --with are shown as without --sched.
func TestKernelSchedProbe(t *testing.T) {
	eventsOf(t, tracetest.Kernel(t), "--sched")
	target := fixture.Build(t, "sched")
	timesRight(t, func() (wrong []string) {
		file := filepath.Join(t.TempDir(), "truth")
		r := ran(t, "probe", "--sched", "--with", "sched:sched_process_exit", "-o", "json", target, "main.mixed", "main.compute", "main.forever", "--", target, "-n", "7", file)
		functions := jsonLines(t, r.stdout, "function")
		if len(functions) != 3 {
			t.Fatalf("%d functions\n%s", len(functions), r.stdout)
		}
		for _, f := range functions {
			if f["function"] == "main.forever" {
				if f["sched"] != nil || f["open"] != 1.0 {
					t.Errorf("%v", f)
				}
				continue
			}
			p := schedParts(t, f, f["ns"].(map[string]any)["sum"])
			if f["function"] == "main.mixed" {
				var want parts
				for _, q := range schedTruth(t, file)["main.mixed"] {
					for i := range want {
						want[i] += q[i]
					}
				}
				// Of time that the machine itself was without a CPU its programs know nothing.
				wrong = append(wrong, compareParts(t, "sum of main.mixed", []parts{{p[0] + p[1], 0, p[2]}}, []parts{{want[0] + want[1], 0, want[2]}})...)
			}
			for name := range f["events"].(map[string]any) {
				if name != "sched:sched_process_exit" {
					t.Errorf("events %v, which were not asked for", f["events"])
				}
			}
		}
		return wrong
	})
}

// TestKernelSchedPID: a process that has run for a while; what it has found out is in the
// results of its calls.
func TestKernelSchedPID(t *testing.T) {
	eventsOf(t, tracetest.LongKernel(t), "--sched")
	cmd := exec.Command(fixture.Build(t, "sched"), "-n", "100000", os.DevNull)
	noError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	timesRight(t, func() []string {
		r := ran(t, "trace", "--sched", "-o", "json", "-n", "7", "-p", fmt.Sprint(cmd.Process.Pid), "main.mixed")
		var got, want []parts
		for _, c := range jsonLines(t, r.stdout, "call") {
			if c["end"] != "return" {
				continue
			}
			got = append(got, schedParts(t, c, c["ns"]))
			own := c["results"].(map[string]any)["s"].(map[string]any)
			want = append(want, parts{own["running"].(float64), own["runnable"].(float64), own["waiting"].(float64)})
		}
		if len(want) != 7 {
			t.Fatalf("%d calls\n%s", len(want), r.stdout)
		}
		return compareParts(t, "main.mixed", got, want)
	})
}

// eventsOf skips a test of a command that asks for kernel events, where the kernel records none
// of single processes.
func eventsOf(t *testing.T, f *tracefs.FS, command ...string) {
	t.Helper()
	if slices.Contains(command, "--with") || slices.Contains(command, "--sched") {
		tracetest.Needs(t, f.Features().EventFork, "kernel events of single processes (event-fork, Linux 4.9)")
	}
}

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
