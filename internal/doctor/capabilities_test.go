package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// TestDrop runs itself: what is dropped stays so on all threads, and in what is executed.
func TestDrop(t *testing.T) {
	if os.Getenv("FTGO_TEST_DROP") != "" {
		dropped(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDrop$", "-test.v")
	cmd.Env = append(os.Environ(), "FTGO_TEST_DROP=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
}

func dropped(t *testing.T) {
	before, err := effective()
	fixture.NoError(t, err)
	// Threads that there are already.
	var started, ended sync.WaitGroup
	hold := make(chan bool)
	for range 4 {
		started.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			started.Done()
			<-hold
		})
	}
	started.Wait()
	if err := Drop(); errors.Is(err, unix.ENOTSUP) {
		t.Skip("a program with cgo")
	} else if err != nil {
		t.Fatal(err)
	}
	close(hold)
	ended.Wait()
	want := fmt.Sprintf("CapEff:\t%016x\n", before&needed())
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) == 0 {
		t.Fatal(threads, err)
	}
	for _, name := range threads {
		if text, err := os.ReadFile(name); err == nil && !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	text, err := exec.Command("cat", "/proc/self/status").CombinedOutput()
	if err != nil || strings.Contains(string(text), fmt.Sprintf("CapEff:\t%016x\n", before)) && before&^needed() != 0 {
		t.Errorf("what is executed has all: %v\n%s", err, text)
	}
	if now, err := effective(); err != nil || now != before&needed() {
		t.Errorf("%#x, %v; want %#x", now, err, before&needed())
	}
	for _, u := range uses {
		if before&u.bit != before&needed()&u.bit {
			t.Errorf("%s is gone", u.name)
		}
	}
}
