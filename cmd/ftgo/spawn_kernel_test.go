package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// spawnFuncs are the functions of testdata/spawn that make the calls which tests know; main.middle,
// which starts a goroutine, is not among them.
var spawnFuncs = []string{"main.handle", "main.part", "main.leaf", "main.deep", "main.rest", "main.linger", "main.stay"}

// waitLong is ftgo, whose trees wait for goroutines as long as the program runs.
func waitLong(t *testing.T, args ...string) result {
	t.Helper()
	var out, err written
	e := newEnv(&out, &err)
	e.Patience = patience
	code := runCommand(t.Context(), e, args)
	r := result{code, out.String(), err.String()}
	if code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	return r
}

var (
	spawnLine = regexp.MustCompile(`^ *(?:[0-9.]+(?:ns|µs|ms|s)|-|…) +(?:[<0-9.]+%|-)  (.*)$`)
	spawnCall = regexp.MustCompile(`^( *)(?:goroutine (\d+)  )?main\.(\w+)\((?:i=(\d+))?(?:, k=(\d))?[^)]*\)(?:[^ ]| = | (?:[0-9]|true|nil|open))*(  outlived main\.handle by .*)?$`)
)

// spawned are the trees that text has of testdata/spawn: a line for each, indented, with goroutines
// for G where they differ from the tree's own.
func spawned(t *testing.T, text string) (trees map[string]string) {
	t.Helper()
	trees = make(map[string]string)
	var tree, request string
	goids := make(map[string]bool)
	finish := func() {
		if _, twice := trees[request]; twice || request == "" && tree != "" {
			t.Fatalf("request %q is there twice, or unknown:\n%s", request, tree)
		}
		if tree != "" {
			trees[request] = tree
		}
		tree, request = "", ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "goroutine ") {
			finish()
			goids = map[string]bool{strings.Fields(line)[1]: true}
			if strings.Contains(line, "outlived") || strings.Contains(line, "continued") {
				t.Fatalf("%s", line)
			}
			continue
		}
		m := spawnLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no line of a tree: %q", line)
		}
		if rest, ok := strings.CutSuffix(m[1], "goes on after main.handle"); ok {
			goid := strings.Fields(rest)[1]
			if !goids[goid] {
				t.Errorf("a goroutine that is not known goes on: %q", line)
			}
			tree += rest[:strings.Index(rest, "goroutine")] + "G goes on\n"
			continue
		}
		c := spawnCall.FindStringSubmatch(m[1])
		if c == nil {
			t.Fatalf("no call: %q", m[1])
		}
		if request == "" {
			request = c[4]
		}
		if c[4] != request {
			t.Fatalf("a call of request %s in the tree of %s: %q", c[4], request, line)
		}
		tree += c[1]
		if c[2] != "" {
			if goids[c[2]] {
				t.Errorf("goroutine %s is there twice, or the root's: %q", c[2], line)
			}
			goids[c[2]] = true
			tree += "G "
		}
		tree += c[3]
		if c[5] != "" {
			tree += " " + c[5]
		}
		if c[6] != "" {
			tree += " outlived"
		}
		tree += "\n"
	}
	finish()
	return trees
}

// checkSpawned checks the tree of a request. Goroutines begin in any order.
func checkSpawned(t *testing.T, request int, tree string, slow, lingers, stays bool) {
	t.Helper()
	want := map[string]int{"handle": 1}
	for k := range 2 {
		want[fmt.Sprintf("  G part %d\n    leaf %d", k, k)] = 1
	}
	want["  G part 2\n    leaf 2\n    G deep"] = 1
	if slow {
		want["  rest"] = 1
	}
	if lingers {
		want["  G linger outlived"] = 1
	}
	if stays {
		want["  G stay"] = 1
		want["  G goes on"] = 1
	}
	got := make(map[string]int)
	branch := ""
	for line := range strings.Lines(tree + "\n") {
		if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "    ") {
			if branch != "" {
				got[branch]++
			}
			branch = line
			continue
		}
		branch += "\n" + line
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("request %d:\n%s\nbranches %v\nwant %v", request, tree, got, want)
	}
}

// TestKernelFollow: of 1,000 requests that start three goroutines each, which may start others, each
// has a tree of its own with all of them in it, and what outlives its request is told.
func TestKernelFollow(t *testing.T) {
	tracetest.LongKernel(t)
	const requests = 1000
	for _, c := range []struct {
		version string
		flags   []string
	}{
		{fixture.Current, nil}, {fixture.Current, []string{"-buildmode=pie"}}, {fixture.Current, []string{"-gcflags=all=-N -l"}},
		{"1.16.15", nil}, {"1.17.13", nil}, {"1.20.14", nil}, {"1.23.12", nil},
	} {
		t.Run(strings.Join(append([]string{c.version}, c.flags...), " "), func(t *testing.T) {
			target := fixture.BuildWith(t, c.version, "spawn", c.flags...)
			r := waitLong(t, append(append([]string{"trace", "--tree", "--full", target}, spawnFuncs...), "--", target, "-n", fmt.Sprint(requests), "-linger", "7", "-stay", "11")...)
			if !strings.Contains(r.stderr, "all delivered") {
				t.Fatal(r.stderr)
			}
			trees := spawned(t, r.stdout)
			if len(trees) != requests {
				t.Errorf("%d trees", len(trees))
			}
			for i := range requests {
				checkSpawned(t, i, trees[fmt.Sprint(i)], false, i%7 == 0, i%11 == 0)
			}
		})
	}
}

// TestKernelFollowInside: what goroutines do that a call has started is inside of it.
func TestKernelFollowInside(t *testing.T) {
	tracetest.Kernel(t)
	const requests = 11
	target := fixture.Build(t, "spawn")
	r := ftgo(t, "trace", "--tree", "--inside", "main.handle", target, "main.leaf", "main.deep", "--", target, "-n", fmt.Sprint(requests))
	if leaves, deep := strings.Count(r.stdout, "main.leaf("), strings.Count(r.stdout, "main.deep("); r.code != 0 || leaves != 3*requests || deep != requests {
		t.Errorf("status %d, %d calls of leaf, %d of deep\n%s%s", r.code, leaves, deep, r.stdout, r.stderr)
	}
}

// TestKernelScriptFollow: a recording has what trees take, if it is asked for, and else says so.
func TestKernelScriptFollow(t *testing.T) {
	tracetest.LongKernel(t)
	const requests = 101
	target := fixture.Build(t, "spawn")
	shell := scriptShells(t)[0]
	apart := "what calls start with go is shown apart: record it with script --tree"
	for _, follow := range []bool{true, false} {
		args := append([]string{"--as", "trace", target}, spawnFuncs...)
		if follow {
			args = append([]string{"--tree"}, args...)
		}
		file, _ := record(t, shell, scriptFor(t, args...), target, "-n", fmt.Sprint(requests))
		r := ftgo(t, "report", "--tree", file)
		if r.code != 0 || strings.Contains(r.stderr, apart) == follow {
			t.Fatalf("status %d\n%s", r.code, r.stderr)
		}
		if !follow {
			if n := strings.Count(r.stdout, "\ngoroutine "); n < 4*requests {
				t.Errorf("%d trees of goroutines that nobody follows", n)
			}
			continue
		}
		// A recording does not tell which processes it is of.
		trees := spawned(t, regexp.MustCompile(`pid \d+ `).ReplaceAllString(r.stdout, ""))
		if len(trees) != requests {
			t.Errorf("%d trees", len(trees))
		}
		for i := range requests {
			checkSpawned(t, i, trees[fmt.Sprint(i)], false, false, false)
		}
		if r := ftgo(t, "report", "--slow", "1us", "-o", "json", file); r.code != 0 || len(jsonLines(t, r.stdout, "call")) != requests*(len(slowLines)-1) {
			t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
}
