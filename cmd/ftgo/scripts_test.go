package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestScripts runs the command lines of testdata/script. None of them gets as far as the kernel. They have a recording
// of one call, $WORK/rec, an address that somebody listens at, $TAKEN, and beside what testscript has itself:
//
//	build VAR TARGET[@VERSION] [FLAG...]   $VAR is a program of testdata
//	foreign VAR TARGET            $VAR is one for another processor
//	program FILE SCRIPT           FILE is a shell script
//	setenv NAME=VALUE             ftgo has that in its environment from now on
//	ftgo [-N] ARG...              ftgo ends with status 0, or N
//	refused N TEXT ARG...         it ends with status N, has told that in one line, and shows nothing
//	shows TEXT..., says TEXT...   its output, or standard error, has that (with "!": has not)
func TestScripts(t *testing.T) { runScripts(t, scriptsIn(t, "script")...) }

// TestKernelScripts runs those of testdata/script/kernel, which probe: one after the other, because probes are hit by
// all who run a file.
func TestKernelScripts(t *testing.T) {
	tracetest.LongKernel(t)
	for _, file := range scriptsIn(t, "script/kernel") {
		t.Run(filepath.Base(file), func(t *testing.T) { runScripts(t, file) })
	}
}

func scriptsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixture.Root(), "cmd/ftgo/testdata", dir, "*.txt"))
	noError(t, err)
	return files
}

func runScripts(t *testing.T, files ...string) {
	has := func(name string) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, texts []string) {
			for _, text := range texts {
				if strings.Contains(ts.ReadFile(name), text) == neg {
					ts.Fatalf("%s has %q: %v", name, text, neg)
				}
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Files:           files,
		ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			fixture.Write(t, filepath.Join(env.WorkDir, "rec"), madeUp)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			noError(t, err)
			env.Defer(func() { listener.Close() })
			env.Setenv("TAKEN", listener.Addr().String())
			return nil
		},
		Condition: func(name string) (bool, error) {
			return name == "arrays" && tracetest.Kernel(t).Features().Arrays, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"shows": has("stdout"),
			"says":  has("stderr"),
			"build": func(ts *testscript.TestScript, _ bool, args []string) {
				target, version, old := strings.Cut(args[1], "@")
				if !old {
					version = fixture.Local
				}
				ts.Setenv(args[0], fixture.BuildWith(t, version, target, args[2:]...))
			},
			"foreign": func(ts *testscript.TestScript, _ bool, args []string) {
				goarch := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
				ts.Setenv(args[0], fixture.BuildFor(t, goarch, fixture.Current, args[1]))
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
		},
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
