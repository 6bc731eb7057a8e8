package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
			checkSpawned(t, i, trees[fmt.Sprint(i)], false, false)
		}
		if r := ftgo(t, "report", "--slow", "1us", "-o", "json", file); r.code != 0 || len(jsonLines(t, r.stdout, "call")) != requests*(len(slowLines)-1) {
			t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
}

// slowTree is what JSON has of a tree of testdata/spawn.
type slowTree struct {
	request float64
	ended   time.Time
	lines   []string // without what their calls share
}

// slowTrees are the trees in lines of JSON, each of which must be whole.
func slowTrees(t *testing.T, text string) (trees []slowTree) {
	t.Helper()
	for _, o := range jsonLines(t, text, "tree") {
		began, err := time.Parse(time.RFC3339Nano, o["time"].(string))
		if err != nil || o["left_out"] != 0.0 || o["function"] != "main.handle" || o["tree"] != float64(len(trees)+1) || o["started_by"] != nil {
			t.Errorf("%v, %v", o, err)
		}
		trees = append(trees, slowTree{ended: began.Add(time.Duration(o["ns"].(float64)))})
	}
	for _, c := range jsonLines(t, text, "call") {
		tree := &trees[int(c["tree"].(float64))-1]
		args := c["args"].(map[string]any)
		if len(tree.lines) == 0 {
			tree.request = args["i"].(float64)
		}
		if args["i"] != tree.request || c["end"] != "return" {
			t.Errorf("in the tree of request %v: %v", tree.request, c)
		}
		line := fmt.Sprint(strings.Repeat(" ", int(c["level"].(float64))), strings.TrimPrefix(c["function"].(string), "main."))
		if k, ok := args["k"]; ok {
			line += fmt.Sprint(" ", k)
		}
		tree.lines = append(tree.lines, line)
	}
	return trees
}

// slowLines are the lines of a slow request's tree, in some order.
var slowLines = []string{"handle", " rest", " part 0", "  leaf 0", " part 1", "  leaf 1", " part 2", "  leaf 2", "  deep"}

func checkSlow(t *testing.T, trees []slowTree, every, requests int) {
	t.Helper()
	seen := make(map[int]bool)
	for _, tree := range trees {
		if slices.Sort(tree.lines); !slices.Equal(tree.lines, slices.Sorted(slices.Values(slowLines))) {
			t.Errorf("request %v: %q", tree.request, tree.lines)
		}
		seen[int(tree.request)] = true
	}
	var want []int
	for i := 0; i < requests; i += every {
		want = append(want, i)
	}
	if got := slices.Sorted(maps.Keys(seen)); len(trees) != len(want) || !slices.Equal(got, want) {
		t.Errorf("%d trees of requests %v, want %v", len(trees), got, want)
	}
}

// TestKernelSlow: of 10,000 requests 37 rest for long, and exactly these have trees, which are
// whole and in the order in which they end.
func TestKernelSlow(t *testing.T) {
	tracetest.LongKernel(t)
	const requests, every = 10_000, 271
	target := fixture.Build(t, "spawn")
	r := ftgo(t, append(append([]string{"trace", "--slow", "1.5s", "-o", "json", target}, spawnFuncs...), "--", target, "-n", fmt.Sprint(requests), "-slow", fmt.Sprint(every), "-sleep", "4s")...)
	if r.code != 0 || !strings.Contains(r.stdout, `"lost":0,`) {
		t.Fatalf("status %d\n%s\n%.2000s", r.code, r.stderr, r.stdout)
	}
	trees := slowTrees(t, r.stdout)
	checkSlow(t, trees, every, requests)
	if !slices.IsSortedFunc(trees, func(a, b slowTree) int { return a.ended.Compare(b.ended) }) {
		t.Errorf("not in the order of their ends: %v", trees)
	}
}
