package procfs_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

var sink int

//go:noinline
func burn() (n int) {
	for range 1 << 20 {
		n = n*7 + 1
	}
	return n
}

// TestSamples checks that a function that uses much CPU time is among the samples of its process, and that others are not.
func TestSamples(t *testing.T) {
	if err := procfs.TryPerf(os.Getpid()); err != nil {
		t.Skip(err)
	}
	runtime.LockOSThread()
	samples := procfs.StartSamples(os.Getpid())
	var began, now unix.Timespec
	for _ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &began); now.Nano()-began.Nano() < int64(20*time.Millisecond); {
		sink += burn()
		_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now)
	}
	found := make(map[string]bool)
	for addr := range samples.Stop() {
		if f := runtime.FuncForPC(uintptr(addr)); f != nil {
			found[f.Name()] = true
		}
	}
	if name := "github.com/ftgo/ftgo/internal/procfs_test.burn"; !found[name] || len(found) > 50 {
		t.Errorf("samples are of %v; want %s and few others", found, name)
	}
}
