package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestKernelPlacingEnded ends runs at odd moments while probes are placed, one way and the
// other.
func TestKernelPlacingEnded(t *testing.T) {
	f := needsAppend(t)
	target := server(t, fixture.Build(t, "server"))
	for _, after := range []time.Duration{0, 90, 130, 170, 210, 300} {
		p := tracer(t, "probe", "--budget", "50", target.Path, "*")
		time.Sleep(after * time.Millisecond)
		p.Process.Signal(syscall.SIGINT)
		p.endsWell(t)
		nothingOf(t, f, p.Process.Pid)
	}
	killed := tracer(t, "probe", "--budget", "50", target.Path, "*")
	events := fmt.Sprintf("%s/instances/%s/events", f.Dir(), instanceOf(t, f.Dir(), killed.Process.Pid))
	// The first of functions that come later are on: "e" and a number.
	waitFor(t, "functions that come later", func() bool {
		late, _ := filepath.Glob(events + "/ftgo_*/e[1-9]*")
		return len(late) > 0
	})
	killed.Process.Kill()
	killed.Wait()
	ran(t, "clean")
	nothingOf(t, f, killed.Process.Pid)
	target.unharmed(t)
}

// instanceOf is the instance of a process with most events: the other measures costs.
func instanceOf(t *testing.T, dir string, pid int) string {
	t.Helper()
	found, most := "", -1
	names, err := filepath.Glob(fmt.Sprintf("%s/instances/ftgo_%d_*", dir, pid))
	noError(t, err)
	for _, name := range names {
		events, _ := os.ReadDir(filepath.Join(name, "events", filepath.Base(name)))
		if len(events) > most {
			found, most = filepath.Base(name), len(events)
		}
	}
	if found == "" {
		t.Fatalf("no instance of process %d", pid)
	}
	return found
}
