package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var (
	treeHead = regexp.MustCompile(`(?m)^goroutine (\d+)  \d\d:\d\d:\d\d\.\d{6}  thread \d+$`)
	treeTime = regexp.MustCompile(`(?m)^ *(-|[0-9.]+(ns|µs|ms|s)) +(-|[0-9.<]+%)  `)
)

// TestKernelTree nests calls as the program does: recursion, a recovered panic, Goexit, and
// a call that is open when the program ends.
func TestKernelTree(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "nest")
	trees, err := txtar.ParseFile("testdata/trees.txt")
	noError(t, err)
	for _, tree := range trees.Files {
		t.Run(tree.Name, func(t *testing.T) {
			funcs := []string{"main.fact", "main.risky"}
			if !strings.HasPrefix(tree.Name, "--where") { // the others have no n
				funcs = append(funcs, "main.guard", "main.tidy", "main.quit", "main.leave", "main.work", "main.stay")
			}
			r := ftgo(t, slices.Concat([]string{"trace", "--tree"}, strings.Fields(tree.Name), []string{target}, funcs, []string{"--", target})...)
			got := treeTime.ReplaceAllString(treeHead.ReplaceAllString(r.stdout, "goroutine"), "")
			got = strings.ReplaceAll(got, "done=chan[0/0]", "done")
			if r.code != 0 || got != string(tree.Data) {
				t.Errorf("status %d\n%s\nwant\n%s\n%s", r.code, r.stdout, tree.Data, r.stderr)
			}
		})
	}
}

// TestKernelTreeWith has kernel events at their place in the tree.
func TestKernelTreeWith(t *testing.T) {
	fixture.NeedLong(t)
	withSyscalls(t)
	target := fixture.Build(t, "asks")
	r := ftgo(t, "trace", "--tree", "--with", "syscalls:sys_enter_getppid", target, "main.once", "main.around", "--", target, "-n", "1")
	_, got, _ := strings.Cut(r.stdout, "\n")
	got = regexp.MustCompile(`(?m)^ *(event {9}|[0-9.]+[µnm]?s +[0-9.<]+%  )`).ReplaceAllString(got, "")
	got, _, _ = strings.Cut(got, "\n   event") // of main.relay, in no call
	want := "main.around() = 3\n  E\n  main.once()\n    E\n  main.once()\n    E\n  main.once()\n    E\n  E"
	if got = strings.TrimSpace(strings.ReplaceAll(got, "syscalls:sys_enter_getppid", "E")); r.code != 0 || !strings.HasPrefix(got, want) {
		t.Errorf("status %d\n%s\n%s\nwant\n%s", r.code, r.stdout, got, want)
	}
}
