package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// TestSlashIsNoLibrary: with -p the first FUNC may name a library, but not if it is a
// function of a package with a path.
func TestSlashIsNoLibrary(t *testing.T) {
	names := []string{"github.com/ftgo/ftgo/cmd/ftgo.fib", "github.com/ftgo/ftgo/cmd/ftgo.sleep"}
	r := ftgo(t, append([]string{"probe", "--dry-run", "-p", strconv.Itoa(os.Getpid())}, names...)...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "p:ftgo/e0_") {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestThreadForProcess: hits are of processes, so that a thread would be waited for in vain.
func TestThreadForProcess(t *testing.T) {
	tasks, err := os.ReadDir("/proc/self/task")
	noError(t, err)
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil || tid == os.Getpid() {
			continue
		}
		r := ftgo(t, "probe", "-p", task.Name(), "main.main")
		if want := fmt.Sprintf("ftgo: process %d: a thread of process %d, which -p takes\n", tid, os.Getpid()); r.code != cli.ExitFailed || r.stderr != want {
			t.Errorf("status %d, %q; want %q", r.code, r.stderr, want)
		}
		return
	}
	t.Errorf("only one thread: %v", tasks)
}
