package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestScripts runs the scripts of testdata/script, which leave the kernel alone. In a script, $WORK/rec is a recording of one
// call, $TAKEN an address that a server listens at, $ftgo the built ftgo, and $root the module's folder. Scripts have the commands
// of testscript, of processCommands and of screenCommands, and these:
//
//	build VAR TARGET[@VERSION] [FLAG...]   builds a program of testdata, and sets VAR to its path
//	foreign VAR TARGET            builds one for another processor
//	compile VAR COMPILER SOURCE [FLAG...]   compiles a program with another compiler
//	moved VAR TARGET              makes a stripped program of a Go release that does not exist yet
//	toolchain VAR VERSION         sets VAR to the GOROOT of a version of Go
//	mark VAR FILE NAME            sets VAR to the line of a mark in a source file of testdata/lines
//	measured FILE SEED HOST NAME:CALLS:MEDIAN:FAILS...   writes what a run of ftgo probe could have written
//	program FILE TEXT             writes a shell script
//	repeat VAR N TEXT             sets VAR to N times a text
//	setenv NAME=VALUE             sets an environment variable for ftgo
//	ftgo [-N] ARG...              runs ftgo in this process, and fails unless its exit status is 0, or N
//	refused N TEXT ARG...         fails unless ftgo's exit status is N, its error one short line with a text, its output empty
//	shows TEXT..., says TEXT...   fails unless the output, or standard error, contains each text (with "!": if it does)
//	edit REGEXP BY...             replaces what each expression matches in the output
//	lines N[+] TYPE [COND...]     fails unless the output has N JSON lines (or more) of a type that meet all conditions: KEY=VALUE,
//	                              != < > <= >=, or ~REGEXP. KEY.KEY is a key of an object in the line; @KEY as value is the value
//	                              of another key. It checks that hits are those delivered, lost and filtered, and that the parts
//	                              of a call's time add up.
//	calls N FUNC...               fails unless the output has N calls of each function, and none is lost
//	sum VAR TYPE KEY [COND...]    sets VAR to the sum of a key's values in such lines
//	same [-calls] [-probed|-all] BOOKS...   compares the JSON output with the numbers that programs have written of themselves in
//	                              files, added up (-calls: only the numbers of calls, -probed: only of functions in the output)
//
// If the variable kernel is set, ftgo does without what kernelsWithout names so.
func TestScripts(t *testing.T) {
	runScripts(t, []string{"ftgo=" + built(t)}, scriptsIn(t, "script/*.txt")...)
}

// TestForged runs a script that measures how much memory a recording takes. No other script may run at the same time.
func TestForged(t *testing.T) { runScripts(t, nil, scriptsIn(t, "script/alone/forged.txt")...) }

// TestKernelScripts runs the scripts of testdata/script/kernel, one after the other, because every process that runs a probed
// file hits the probes.
func TestKernelScripts(t *testing.T) {
	tracetest.LongKernel(t)
	runKernelScripts(t, "script/kernel/*.txt")
}

// TestKernelShortScripts runs the scripts of testdata/script/short, each of which takes a few seconds at most.
func TestKernelShortScripts(t *testing.T) {
	tracetest.Kernel(t)
	runKernelScripts(t, "script/short/*.txt")
}

// runKernelScripts runs each script once, or once for each line of its file "each", which sets variables. $tracefs is where
// tracefs is mounted.
func runKernelScripts(t *testing.T, pattern string) {
	for _, file := range scriptsIn(t, pattern) {
		script, err := txtar.ParseFile(file)
		noError(t, err)
		each := []string{""}
		for _, f := range script.Files {
			if f.Name == "each" {
				each = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			}
		}
		for _, variables := range each {
			t.Run(strings.TrimSpace(filepath.Base(file)+" "+variables), func(t *testing.T) {
				tracetest.Kernel(t)
				for _, variable := range strings.Fields(variables) {
					name, value, _ := strings.Cut(variable, "=")
					t.Setenv(name, value) // for ftgo, which runs in this process
				}
				runScripts(t, append(strings.Fields(variables), "ftgo="+built(t), "tracefs="+tracefsDir(t)), file)
			})
		}
	}
}

func scriptsIn(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "cmd/ftgo/testdata", pattern))
	noError(t, err)
	if len(files) == 0 {
		t.Fatalf("no script is %s", pattern)
	}
	return files
}

// scriptConditions returns the conditions of scripts: what the running kernel has, hangup, if SIGHUP is not ignored, cgo, if
// programs in C can be built, and long, if long tests are wanted. linux:RELEASE is that kernel or a later one;
// exists:PATH is that there is such a file.
func scriptConditions(t *testing.T) map[string]func() bool {
	return map[string]func() bool{
		"arrays":    func() bool { return tracetest.Kernel(t).Features().Arrays },
		"append":    func() bool { return tracetest.Kernel(t).Features().Append },
		"exacthits": func() bool { return tracetest.Kernel(t).Features().ExactHits },
		"long":      fixture.Long,
		"faults": func() bool {
			_, err := os.Stat(tracetest.Kernel(t).Dir() + "/events/exceptions/page_fault_kernel")
			return err == nil
		},
		"hangup": func() bool { return !ignored(t, syscall.SIGHUP) },
		"cgo": func() bool { // there is a compiler, or what it makes
			_, err := exec.LookPath("gcc")
			return err == nil || os.Getenv(fixture.TargetsVar) != ""
		},
		"eventfork": func() bool { return tracetest.Kernel(t).Features().EventFork },
		"syscalls": func() bool {
			_, err := os.Stat(tracetest.Kernel(t).Dir() + "/events/syscalls")
			return err == nil
		},
	}
}

// scriptT returns the test of a script, which alone may skip it.
func scriptT(ts *testscript.TestScript) testing.TB { return ts.Value("t").(testing.TB) }

func runScripts(t *testing.T, variables []string, files ...string) {
	conditions := scriptConditions(t)
	has := func(name string) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, texts []string) {
			for _, text := range texts {
				if strings.Contains(ts.ReadFile(name), text) == neg {
					ts.Fatalf("%s has %q: %v", name, text, neg)
				}
			}
		}
	}
	commands := processCommands(t)
	maps.Copy(commands, screenCommands(t))
	maps.Copy(commands, map[string]func(*testscript.TestScript, bool, []string){
		"shows": has("stdout"),
		"says":  has("stderr"),
		"build": func(ts *testscript.TestScript, _ bool, args []string) {
			target, version, old := strings.Cut(args[1], "@")
			if !old {
				version = fixture.Local
			}
			ts.Setenv(args[0], fixture.BuildWith(scriptT(ts), version, target, args[2:]...))
		},
		"foreign": func(ts *testscript.TestScript, _ bool, args []string) {
			goarch := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
			ts.Setenv(args[0], fixture.BuildFor(scriptT(ts), goarch, fixture.Current, args[1]))
		},
		"measured": func(ts *testscript.TestScript, _ bool, args []string) {
			seed, err := strconv.ParseUint(args[1], 10, 64)
			ts.Check(err)
			var functions []behaviour
			for _, arg := range args[3:] {
				var b behaviour
				name, numbers, _ := strings.Cut(unescaped(arg), ":")
				_, err := fmt.Sscanf(numbers, "%d:%g:%d", &b.calls, &b.median, &b.failsOf100)
				ts.Check(err)
				b.name = name
				functions = append(functions, b)
			}
			fixture.Write(t, ts.MkAbs(args[0]), ranWith(t, seed, unescaped(args[2]), functions...))
		},
		"mark": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], fmt.Sprint(fixture.Marks(scriptT(ts), args[1])[args[2]]))
		},
		"toolchain": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], fixture.Toolchain(scriptT(ts), args[1]))
		},
		"compile": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], fixture.Compile(scriptT(ts), args[1], args[2], args[3:]...))
		},
		"moved": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], moved(t, args[1])) },
		"forged": func(ts *testscript.TestScript, _ bool, args []string) {
			forged(t, ts, args[0], args[1], args[2], args[3])
		},
		"edit": func(ts *testscript.TestScript, _ bool, args []string) {
			text := ts.ReadFile("stdout")
			for change := range slices.Chunk(args, 2) {
				text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
			}
			ts.Stdout().Write([]byte(text))
		},
		"repeat": func(ts *testscript.TestScript, _ bool, args []string) {
			n, err := strconv.Atoi(args[1])
			ts.Check(err)
			ts.Setenv(args[0], strings.Repeat(args[2], n))
		},
		"setenv": func(_ *testscript.TestScript, _ bool, args []string) {
			name, value, _ := strings.Cut(args[0], "=")
			t.Setenv(name, value)
		},
		"program": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("#!/bin/sh\n"+args[1]+"\n"), 0o755))
		},
		"ftgo": func(ts *testscript.TestScript, _ bool, args []string) {
			want := 0
			if n, err := strconv.Atoi(args[0]); err == nil {
				want, args = -n, args[1:]
			}
			run(ts, want, args)
		},
		"refused": func(ts *testscript.TestScript, _ bool, args []string) {
			code, err := strconv.Atoi(args[0])
			ts.Check(err)
			stdout, stderr := run(ts, code, args[2:])
			last := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
			if stdout != "" || !strings.HasPrefix(last, "ftgo: ") || !strings.Contains(last, args[1]) || last != stderr && len(args) > 2 || len(last) > 2100 {
				ts.Fatalf("not one line with %q", args[1])
			}
		},
		"lines": func(ts *testscript.TestScript, _ bool, args []string) {
			least, more := strings.CutSuffix(args[0], "+")
			want, err := strconv.Atoi(least)
			ts.Check(err)
			n := 0
			for _, line := range jsonLines(t, ts.ReadFile("stdout"), args[1]) {
				balanced(ts, line)
				if allHold(ts, line, args[2:]) {
					n++
				}
			}
			if n < want || n > want && !more {
				ts.Fatalf("%d lines, want %s", n, args[0])
			}
		},
		"calls": func(ts *testscript.TestScript, _ bool, args []string) {
			seen := callsSeen(t, ts.ReadFile("stdout"))
			for _, name := range args[1:] {
				if fmt.Sprint(seen[name]) != args[0] {
					ts.Fatalf("%d calls of %s, want %s", seen[name], name, args[0])
				}
			}
		},
		"sum": func(ts *testscript.TestScript, _ bool, args []string) {
			var sum uint64
			for _, line := range jsonLines(t, ts.ReadFile("stdout"), args[1]) {
				if allHold(ts, line, args[3:]) {
					n, _ := strconv.ParseFloat(valueAt(line, args[2]), 64)
					sum += uint64(n)
				}
			}
			ts.Setenv(args[0], fmt.Sprint(sum))
		},
		"same": func(ts *testscript.TestScript, _ bool, args []string) {
			compare, probed := same, false
			for ; strings.HasPrefix(args[0], "-"); args = args[1:] {
				switch args[0] {
				case "-calls":
					compare = sameCalls
				case "-probed":
					probed = true
				case "-all":
				default:
					ts.Fatalf("unknown flag %s", args[0])
				}
			}
			all := books{Functions: make(map[string]bookedFunction)}
			for _, file := range args {
				for name, f := range readBooks(t, ts.ReadFile(file)).Functions {
					sum := all.Functions[name]
					all.Functions[name] = bookedFunction{sum.Calls + f.Calls, sum.Completed + f.Completed, sum.Unwound + f.Unwound, sum.Open + f.Open}
				}
			}
			o := readObserved(t, ts.ReadFile("stdout"))
			if probed {
				all = all.of(t, o, len(o.functions))
			}
			compare(t, o, all)
		},
	})
	params := testscript.Params{
		Files:           files,
		ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			fixture.Write(t, filepath.Join(env.WorkDir, "rec"), madeUp)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			noError(t, err)
			env.Defer(func() { listener.Close() })
			env.Setenv("enter", enter)
			env.Setenv("root", fixture.Root())
			env.Setenv("HOME", os.Getenv("HOME")) // where the go command has its cache
			env.Setenv("TAKEN", listener.Addr().String())
			env.Vars = append(env.Vars, variables...)
			env.Values["t"] = env.T()
			return nil
		},
		Condition: func(name string) (bool, error) {
			if release, ok := strings.CutPrefix(name, "linux:"); ok {
				var major, minor int
				_, err := fmt.Sscanf(release, "%d.%d", &major, &minor)
				return !tracefs.ThisMachine().Older(major, minor), err
			}
			if path, ok := strings.CutPrefix(name, "exists:"); ok {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			is, known := conditions[name]
			if !known {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return is(), nil
		},
		Cmds: commands,
	}
	if len(files) == 1 {
		testscript.RunT(inline{t}, params)
	} else {
		testscript.Run(t, params)
	}
}

// inline runs a script in the test that it has for itself, which what it calls may fail or skip.
type inline struct{ *testing.T }

func (i inline) Run(_ string, script func(testscript.T)) { script(i) }
func (inline) Parallel()                                 {}
func (inline) Verbose() bool                             { return testing.Verbose() }

// run runs a command line of a script.
func run(ts *testscript.TestScript, want int, args []string) (stdout, stderr string) {
	var out, err written
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e := newEnv(&out, &err)
	if ts.Getenv("patient") != "" {
		e.TreeWait = patience // of trees with goroutines
	}
	if without := ts.Getenv("kernel"); without != "" {
		e.Adjust = kernelsWithout[without]
	}
	code := runCommand(ctx, e, args)
	stdout, stderr = out.String(), err.String()
	ts.Stdout().Write([]byte(stdout))
	ts.Stderr().Write([]byte(stderr))
	if code != want {
		ts.Fatalf("status %d, want %d\n%s%s", code, want, stdout, stderr)
	}
	if schema.IsLines(stdout) {
		ts.Check(schema.Check(stdout))
	}
	return stdout, stderr
}
