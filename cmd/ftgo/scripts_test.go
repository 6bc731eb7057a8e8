package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestScripts runs the command lines of testdata/script. None of them gets as far as the kernel. They have a recording
// of one call, $WORK/rec, an address that somebody listens at, $TAKEN, and beside what testscript has itself, and
// processCommands:
//
//	build VAR TARGET[@VERSION] [FLAG...]   $VAR is a program of testdata
//	foreign VAR TARGET            $VAR is one for another processor
//	compile VAR COMPILER SOURCE [FLAG...]   $VAR is a program that another compiler makes
//	moved VAR TARGET              $VAR is a stripped one of a Go that does not exist yet
//	program FILE SCRIPT           FILE is a shell script
//	setenv NAME=VALUE             ftgo has that in its environment from now on
//	ftgo [-N] ARG...              ftgo ends with status 0, or N
//	refused N TEXT ARG...         it ends with status N, has told that in one line, and shows nothing
//	shows TEXT..., says TEXT...   its output, or standard error, has that (with "!": has not)
//	edit REGEXP BY...             what expressions match in its output becomes something else
//	lines N[+] TYPE [COND...]     its output has N JSON lines of a type (or more) that conditions hold for: KEY=VALUE,
//	                              != < > <= >=, and ~REGEXP; KEY.KEY is within an object, @KEY as value is another of the
//	                              line. Hits of a summary are those delivered, lost or filtered.
//	same [-calls] BOOKS           its JSON lines are what a program says of itself in a file (-calls: how often it called what)
func TestScripts(t *testing.T) { runScripts(t, nil, scriptsIn(t, "script")...) }

// TestKernelScripts runs those of testdata/script/kernel, which probe: one after the other, because probes are hit by
// all who run a file.
func TestKernelScripts(t *testing.T) {
	tracetest.LongKernel(t)
	runKernelScripts(t, "script/kernel")
}

// TestKernelShortScripts runs those of testdata/script/short, which take no long time.
func TestKernelShortScripts(t *testing.T) {
	tracetest.Kernel(t)
	runKernelScripts(t, "script/short")
}

// runKernelScripts runs each script once, or once for each line of its file "each", which gives variables their values.
func runKernelScripts(t *testing.T, dir string) {
	for _, file := range scriptsIn(t, dir) {
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
				runScripts(t, strings.Fields(variables), file)
			})
		}
	}
}

func scriptsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "cmd/ftgo/testdata", dir, "*.txt"))
	noError(t, err)
	return files
}

// scriptConditions are what the running kernel has, beside linux:RELEASE, which is that or a later one.
func scriptConditions(t *testing.T) map[string]func() bool {
	return map[string]func() bool{
		"arrays":    func() bool { return tracetest.Kernel(t).Features().Arrays },
		"append":    func() bool { return tracetest.Kernel(t).Features().Append },
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
		"compile": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], fixture.Compile(scriptT(ts), args[1], args[2], args[3:]...))
		},
		"moved": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], moved(t, args[1])) },
		"edit": func(ts *testscript.TestScript, _ bool, args []string) {
			text := ts.ReadFile("stdout")
			for change := range slices.Chunk(args, 2) {
				text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
			}
			ts.Stdout().Write([]byte(text))
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
			if stdout != "" || !strings.HasPrefix(last, "ftgo: ") || !strings.Contains(last, args[1]) || last != stderr && len(args) > 2 {
				ts.Fatalf("not one line with %q", args[1])
			}
		},
		"lines": func(ts *testscript.TestScript, _ bool, args []string) {
			least, more := strings.CutSuffix(args[0], "+")
			want, err := strconv.Atoi(least)
			ts.Check(err)
			n := 0
			for _, line := range jsonLines(t, ts.ReadFile("stdout"), args[1]) {
				if hits, has := line["hits"]; has && float64(number(line["delivered"])+number(line["lost"])+number(line["filtered"])) != hits {
					ts.Fatalf("unbalanced: %v", line)
				}
				if allHold(ts, line, args[2:]) {
					n++
				}
			}
			if n < want || n > want && !more {
				ts.Fatalf("%d lines, want %s", n, args[0])
			}
		},
		"same": func(ts *testscript.TestScript, _ bool, args []string) {
			compare := same
			if args[0] == "-calls" {
				compare, args = sameCalls, args[1:]
			}
			compare(t, readObserved(t, ts.ReadFile("stdout")), readBooks(t, ts.ReadFile(args[0])))
		},
	})
	testscript.Run(t, testscript.Params{
		Files:           files,
		ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			fixture.Write(t, filepath.Join(env.WorkDir, "rec"), madeUp)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			noError(t, err)
			env.Defer(func() { listener.Close() })
			env.Setenv("TAKEN", listener.Addr().String())
			env.Vars = append(env.Vars, variables...)
			env.Values["t"] = env.T()
			return nil
		},
		Condition: func(name string) (bool, error) {
			if release, ok := strings.CutPrefix(name, "linux:"); ok {
				var major, minor int
				_, err := fmt.Sscanf(release, "%d.%d", &major, &minor)
				return !machine.This().Older(major, minor), err
			}
			is, known := conditions[name]
			if !known {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return is(), nil
		},
		Cmds: commands,
	})
}

// run runs a command line of a script.
func run(ts *testscript.TestScript, want int, args []string) (stdout, stderr string) {
	var out, err written
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	code := execute(ctx, args, &out, &err)
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

var conditionRE = regexp.MustCompile(`^([^=<>!~]+)(=|!=|<=|>=|<|>|~)(.*)$`)

// allHold tells whether all conditions hold for a line.
func allHold(ts *testscript.TestScript, line map[string]any, conditions []string) bool {
	for _, c := range conditions {
		m := conditionRE.FindStringSubmatch(c)
		if m == nil {
			ts.Fatalf("no condition: %q", c)
		}
		got, want := valueAt(line, m[1]), m[3]
		if key, ok := strings.CutPrefix(want, "@"); ok {
			want = valueAt(line, key)
		}
		g, gerr := strconv.ParseFloat(got, 64)
		w, werr := strconv.ParseFloat(want, 64)
		numbers := gerr == nil && werr == nil
		holds := map[string]bool{
			"=": got == want, "!=": got != want, "<": numbers && g < w, ">": numbers && g > w, "<=": numbers && g <= w, ">=": numbers && g >= w,
		}[m[2]]
		if m[2] == "~" {
			holds = regexp.MustCompile(want).MatchString(got)
		}
		if !holds {
			return false
		}
	}
	return true
}

// valueAt is the text of a value in an object, or in objects in it: "" if there is none.
func valueAt(object map[string]any, path string) string {
	var value any = object
	for key := range strings.SplitSeq(path, ".") {
		o, _ := value.(map[string]any)
		value = o[key]
	}
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, _ := json.Marshal(value) // which was read from JSON
	return string(b)
}
