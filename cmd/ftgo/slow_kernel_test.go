package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

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

// TestKernelSlowFormats: each format has the slow requests, with what was asked for beside them.
func TestKernelSlowFormats(t *testing.T) {
	fixture.NeedLong(t)
	withSyscalls(t)
	const requests, every = 500, 100
	target := fixture.Build(t, "spawn")
	run := func(flags ...string) result {
		r := ran(t, append(append(append(append([]string{"trace", "--slow", "500ms"}, flags...), target), spawnFuncs...), "--", target, "-n", fmt.Sprint(requests), "-slow", fmt.Sprint(every), "-sleep", "1s")...)
		return r
	}
	r := run("-o", "json", "--sched", "--with", "syscalls:sys_enter_getppid")
	checkSlow(t, slowTrees(t, r.stdout), every, requests)
	for _, c := range jsonLines(t, r.stdout, "call") {
		if s, ok := c["sched"].(map[string]any); !ok || c["function"] == "main.rest" && s["waits"] == nil {
			t.Errorf("%v", c)
		}
	}
	events := jsonLines(t, r.stdout, "event")
	for _, e := range events {
		if e["tree"] == nil || e["level"] != 1.0 {
			t.Errorf("%v", e)
		}
	}
	if len(events) != 5 {
		t.Errorf("%d kernel events", len(events))
	}
	got := chromeCounts(t, run("-o", "chrome").stdout)
	want := map[string]int{"X main.handle": 5, "X main.rest": 5, "X main.part": 15, "X main.leaf": 15, "X main.deep": 5, "s go": 20, "f go": 20, "b main.handle": 5, "e main.handle": 5}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("chrome: %v", got)
	}
	if r := ftgo(t, "trace", "--slow", "1h", target, "main.handle", "--", target, "-n", "7"); r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, "no line: --slow 1h0m0s left out all of 7 calls") {
		t.Errorf("status %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	if r := run(); strings.Count(r.stdout, "main.handle(") != 5 || strings.Count(r.stdout, "\n") != 5*(1+len(slowLines)) {
		t.Errorf("%s", r.stdout)
	}
}

// TestKernelSlowOutlived: the tree of a slow request has what outlives it, and says so.
func TestKernelSlowOutlived(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "spawn")
	args := func(format string) []string {
		return append(append([]string{"trace", "--slow", "500ms", "-o", format, target}, spawnFuncs...), "--", target, "-n", "50", "-slow", "25", "-sleep", "1s", "-stay", "25", "-linger", "25")
	}
	r := waitLong(t, args("json")...)
	trees, outlived := jsonLines(t, r.stdout, "tree"), 0
	for _, o := range trees {
		if on, ok := o["goes_on"].([]any); !ok || len(on) != 1 {
			t.Errorf("%v", o)
		}
	}
	for _, c := range jsonLines(t, r.stdout, "call") {
		if c["outlived_ns"] != nil && c["function"] == "main.linger" {
			outlived++
		}
		if c["function"] == "main.stay" && c["end"] != "open" {
			t.Errorf("%v", c)
		}
	}
	if len(trees) != 2 || outlived != 2 {
		t.Errorf("%d trees, %d calls have outlived them\n%s%s", len(trees), outlived, r.stdout, r.stderr)
	}
	got := chromeCounts(t, waitLong(t, args("chrome")...).stdout)
	if got["X main.handle"] != 2 || got["b main.handle"] != 2 || got["X main.linger"] != 2 || got["X main.stay"] != 2 {
		t.Errorf("%v", got)
	}
}
