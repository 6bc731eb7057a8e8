package main

import (
	"cmp"
	"fmt"
	"maps"
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
	e.TreeWait = patience
	code := runCommand(t.Context(), e, args)
	r := result{code, out.String(), err.String()}
	if code != 0 {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	return r
}

// spawnLine is a line of a tree: how it is indented, its goroutine, function, request and part, and that it has outlived.
var spawnLine = regexp.MustCompile(`^ *(?:[0-9.]+(?:ns|µs|ms|s)|-|…) +(?:[<0-9.]+%|-)  ( *)(?:goroutine (\d+) +)?` +
	`(?:goes on after main\.handle|main\.(\w+)\(i=(\d+)(?:, k=(\d))?[^)]*\)(?:[^ ]| = | (?:[0-9]|true|nil|open))*(  outlived main\.handle by .*)?)$`)

// spawned are the trees that text has of testdata/spawn by their requests: how often each has a branch, which is what
// its first call has called, with G for a goroutine that differs from the tree's own.
func spawned(t *testing.T, text string) map[string]map[string]int {
	t.Helper()
	trees := make(map[string]map[string]int)
	for _, tree := range strings.Split("\n"+strings.TrimRight(text, "\n"), "\ngoroutine ")[1:] {
		head, lines, _ := strings.Cut(tree, "\n")
		if strings.Contains(head, "outlived") || strings.Contains(head, "continued") {
			t.Fatalf("%s", head)
		}
		goids := map[string]bool{strings.Fields(head)[0]: true}
		var request string
		var branches []string
		for line := range strings.SplitSeq(lines, "\n") {
			m := spawnLine.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("no line of a tree: %q", line)
			}
			indent, goid, name := m[1], m[2], m[3]
			if request = cmp.Or(request, m[4]); name != "" && m[4] != request {
				t.Fatalf("a call of request %s in the tree of %s: %q", m[4], request, line)
			}
			if goid != "" {
				if goids[goid] != (name == "") {
					t.Errorf("goroutine %s is there twice, or goes on without being there: %q", goid, line)
				}
				goids[goid], indent = true, indent+"G "
			}
			if m[5] != "" {
				name += " " + m[5]
			}
			if m[6] != "" {
				name += " outlived"
			}
			call := indent + cmp.Or(name, "goes on")
			if len(m[1]) >= 4 {
				branches[len(branches)-1] += "\n" + call
			} else {
				branches = append(branches, call)
			}
		}
		if trees[request] != nil {
			t.Fatalf("request %q is there twice:\n%s", request, tree)
		}
		trees[request] = make(map[string]int)
		for _, branch := range branches {
			trees[request][branch]++
		}
	}
	return trees
}

// checkSpawned checks the tree of a request. Goroutines begin in any order.
func checkSpawned(t *testing.T, request int, got map[string]int, lingers, stays bool) {
	t.Helper()
	want := map[string]int{"handle": 1, "  G part 2\n    leaf 2\n    G deep": 1}
	for k := range 2 {
		want[fmt.Sprintf("  G part %d\n    leaf %d", k, k)] = 1
	}
	if lingers {
		want["  G linger outlived"] = 1
	}
	if stays {
		want["  G stay"], want["  G goes on"] = 1, 1
	}
	if !maps.Equal(got, want) {
		t.Errorf("request %d: branches %v, want %v", request, got, want)
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
				checkSpawned(t, i, trees[fmt.Sprint(i)], i%7 == 0, i%11 == 0)
			}
		})
	}
}

// TestKernelScriptFollow: a recording has what trees take, if it is asked for, and else says so.
func TestKernelScriptFollow(t *testing.T) {
	tracetest.LongKernel(t)
	const requests = 101
	target := fixture.Build(t, "spawn")
	shell := scriptShells(t)[0]
	apart := "goroutines are shown apart from the calls that start them: record with script --tree"
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
			checkSpawned(t, i, trees[fmt.Sprint(i)], false, false)
		}
		if r := ftgo(t, "report", "--slow", "1us", "-o", "json", file); r.code != 0 || len(jsonLines(t, r.stdout, "call")) != 8*requests {
			t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
}
