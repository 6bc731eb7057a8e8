package main

import (
	"regexp"
	"strings"
	"testing"

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
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"whole", nil, `goroutine
main.fact(n=3) = 6
  main.fact(n=2) = 2
    main.fact(n=1) = 1
goroutine
main.guard() = true
  main.risky(n=2) = unwound
    main.risky(n=1) = unwound
      main.risky(n=0) = unwound
        main.tidy() = 1
          main.fact(n=1) = 1
goroutine
main.quit(done) = unwound
  main.leave() = unwound
    main.fact(n=1) = 1
goroutine
main.work(done)
  main.fact(n=2) = 2
    main.fact(n=1) = 1
goroutine
main.stay() = open
  main.fact(n=1) = 1
`},
		{"two levels", []string{"-D", "2"}, `goroutine
main.fact(n=3) = 6
  main.fact(n=2) = 2
goroutine
main.guard() = true
  main.risky(n=2) = unwound
goroutine
main.quit(done) = unwound
  main.leave() = unwound
goroutine
main.work(done)
  main.fact(n=2) = 2
goroutine
main.stay() = open
  main.fact(n=1) = 1
`},
		{"inside", []string{"--inside", "main.guard"}, `goroutine
main.risky(n=2) = unwound
  main.risky(n=1) = unwound
    main.risky(n=0) = unwound
      main.tidy() = 1
        main.fact(n=1) = 1
`},
		{"filtered", []string{"--where", "n == 1"}, `goroutine
main.fact(n=1) = 1
goroutine
main.risky(n=1) = unwound
  main.fact(n=1) = 1
goroutine
main.fact(n=1) = 1
goroutine
main.fact(n=1) = 1
goroutine
main.fact(n=1) = 1
`},
		{"enough", []string{"-n", "2"}, `goroutine
main.fact(n=3) = 6
  main.fact(n=2) = 2
    main.fact(n=1) = 1
goroutine
main.guard() = true
  main.risky(n=2) = unwound
    main.risky(n=1) = unwound
      main.risky(n=0) = unwound
        main.tidy() = 1
          main.fact(n=1) = 1
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"trace", "--tree"}, c.args...)
			funcs := []string{"main.fact", "main.risky"}
			if c.name != "filtered" { // the others have no n
				funcs = append(funcs, "main.guard", "main.tidy", "main.quit", "main.leave", "main.work", "main.stay")
			}
			r := ftgo(t, append(append(append(args, target), funcs...), "--", target)...)
			got := treeTime.ReplaceAllString(treeHead.ReplaceAllString(r.stdout, "goroutine"), "")
			got = strings.ReplaceAll(got, "done=chan[0/0]", "done")
			if r.code != 0 || got != c.want {
				t.Errorf("status %d\n%s\nwant\n%s\n%s", r.code, r.stdout, c.want, r.stderr)
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
