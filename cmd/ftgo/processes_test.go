package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

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
