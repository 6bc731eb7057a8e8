package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// stackFrame is a function in a stack, as the target and ftgo write it.
type stackFrame struct {
	Function, File string
	Line           int
}

// stackedCall is a call that the target has logged.
type stackedCall struct {
	N     int
	Stack []stackFrame
}

const stackedCalls = 1000

// observeStacks runs a command on testdata/stacks; it returns its data and what the target
// says.
func observeStacks(t *testing.T, target string, args ...string) (data string, truth []stackedCall) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "data")
	function := "main.leaf"
	if args[0] == "trace" {
		function = "main.leaf(n int) int" // of a program that may have no debug information
	}
	args = append(args, "-w", file, target, function, "--", target, strconv.Itoa(stackedCalls))
	r := ran(t, args...)
	data = readFile(t, file)
	truth = decoded[stackedCall](t, r.stdout)
	if len(truth) != stackedCalls {
		t.Fatalf("the target logged %d calls, want %d", len(truth), stackedCalls)
	}
	return data, truth
}

// sameStack compares a stack with the program's own. ftgo's may end before it, with a mark,
// when it has as many callers as the kernel fetches.
func sameStack(got, want []stackFrame) bool {
	if n := len(got) - 1; n >= uprobe.MaxStack && got[n] == (stackFrame{Function: "…"}) && len(want) > n {
		got, want = got[:n], want[:n]
	}
	return slices.Equal(got, want)
}

// TestKernelStacks compares the stack of each call with what the program's own
// runtime.Callers says in it: ten deep by eight ways, a fourth of them inlined.
func TestKernelStacks(t *testing.T) {
	tracetest.LongKernel(t)
	builds := []string{
		"current", "current raw", "current stripped entries", "current pie raw", "1.27.4 stripped", "1.21.13",
		"1.17.13 stripped", "1.16.15 stripped raw", "1.12.17 stripped",
	}
	if fixture.All() {
		builds = append(builds, "1.26.8 stripped", "1.24.6 stripped", "1.22.12 pie", "1.21.13 pie", "1.21.13 stripped",
			"1.20.14 stripped", "1.18.10", "1.17.13", "1.16.15 pie", "1.16.15", "1.15.15 stripped", "1.15.15 pie", "1.14.15",
			"1.13.15 stripped", "1.12.17", "1.11.13 stripped", "1.10.8", "1.9.7 stripped", "1.7.6 stripped")
	}
	for _, build := range builds {
		t.Run(build, func(t *testing.T) {
			version, how, _ := strings.Cut(build, " ")
			var flags []string
			args := []string{"trace", "--stack", "-o", "json"}
			for word := range strings.FieldsSeq(how) {
				switch word {
				case "raw":
					t.Setenv(readerVar, "raw")
				case "entries":
					args = append(args, "--entries")
				default:
					flags = map[string][]string{"stripped": {"-ldflags", "-s -w"}, "pie": {"-buildmode=pie"}}[word]
				}
			}
			data, truth := observeStacks(t, fixture.BuildWith(t, version, "stacks", flags...), args...)
			traced := make(map[int][]stackFrame)
			for _, call := range decoded[struct {
				Type  string
				Args  struct{ N int }
				Stack []stackFrame
			}](t, data) {
				if call.Type == "call" {
					traced[call.Args.N] = call.Stack
				}
			}
			wrong := 0
			for _, want := range truth {
				got := traced[want.N]
				if len(want.Stack) < 10 {
					t.Errorf("call %d is only %d deep", want.N, len(want.Stack))
				}
				if !sameStack(got, want.Stack) {
					if wrong++; wrong <= 2 {
						t.Errorf("call %d:\ngot  %v\nwant %v", want.N, got, want.Stack)
					}
				}
			}
			if wrong > 0 || len(traced) != len(truth) {
				t.Errorf("%d calls traced; %d of %d have another stack", len(traced), wrong, len(truth))
			}
		})
	}
}

// TestKernelStackSums: what probe adds up by stack is what the program's own log adds up to,
// in each format, to the call.
func TestKernelStackSums(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "stacks")

	t.Run("json", func(t *testing.T) {
		t.Setenv(readerVar, "raw")
		data, truth := observeStacks(t, target, "probe", "--stack", "-o", "json")
		left := slices.Clone(truth)
		stacks, nested := 0, int64(0)
		for _, s := range decoded[struct {
			Type                  string
			Calls, Completed      int
			Stack                 []stackFrame
			NS                    struct{ Min, Mean, Max, Sum, Self int64 }
			Hits, Delivered, Lost uint64
		}](t, data) {
			switch s.Type {
			case "function":
				nested = s.NS.Sum
			case "stack":
				stacks++
				before := len(left)
				left = slices.DeleteFunc(left, func(c stackedCall) bool { return sameStack(s.Stack, c.Stack) })
				if n := before - len(left); n != s.Calls || n != s.Completed || n == 0 {
					t.Errorf("%d calls, %d completed of %v, want %d", s.Calls, s.Completed, s.Stack, n)
				}
				if s.NS.Self != s.NS.Sum || s.NS.Min > s.NS.Mean || s.NS.Mean > s.NS.Max || s.NS.Max > s.NS.Sum {
					t.Errorf("latencies %+v", s.NS)
				}
				nested -= s.NS.Sum
			case "summary":
				if s.Lost != 0 || s.Delivered != s.Hits {
					t.Errorf("%d hits, %d delivered, %d lost", s.Hits, s.Delivered, s.Lost)
				}
			}
		}
		if len(left) > 0 || stacks != 16 || nested != 0 {
			t.Errorf("%d calls have none of %d stacks; sums differ by %d ns", len(left), stacks, nested)
		}
	})

	t.Run("pprof", func(t *testing.T) {
		data, truth := observeStacks(t, target, "probe", "-o", "pprof")
		file := filepath.Join(t.TempDir(), "profile")
		noError(t, os.WriteFile(file, []byte(data), 0o644))
		want := make(map[string]int) // calls below each function
		for _, c := range truth {
			names := append(known(c.Stack), "main.leaf")
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				want[name]++
			}
		}
		out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000", "-sample_index=calls", file).Output()
		noError(t, err)
		got := make(map[string]int)
		for line := range strings.Lines(string(out)) {
			// flat flat% sum% cum cum% name
			if f := strings.Fields(line); len(f) > 5 {
				if n, err := strconv.Atoi(f[3]); err == nil {
					got[f[5]] = n
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("go tool pprof -top says\n%s\nwant %v", out, want)
		}
	})
}

// known are the functions of a stack of the target that ftgo tells: as many callers as the
// kernel fetches, with what was inlined into them, and a mark if there are more.
func known(stack []stackFrame) (names []string) {
	callers := 0
	for _, f := range stack {
		if !strings.HasPrefix(f.Function, "main.inlined") {
			if callers++; callers > uprobe.MaxStack {
				return append(names, "…")
			}
		}
		names = append(names, f.Function)
	}
	return names
}
