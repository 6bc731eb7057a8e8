// Package tracetest guards the tests that need the kernel: it decides whether they
// can run, and sees that they leave nothing behind.
package tracetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// Kernel returns the tracefs for a test on the real kernel, mounting it if need be.
//
// Without root, or without uprobes in the kernel, the test is skipped; under
// FTGO_TEST_KERNEL=require it fails instead. When the test ends, no probe event,
// instance or mount may be left by this process. A kernel that records no
// uprobes in instances skips it: see AnyKernel.
func Kernel(t testing.TB) *tracefs.FS {
	t.Helper()
	f := AnyKernel(t)
	Needs(t, f.Features().Instances, "uprobes in instances (Linux 3.14)")
	return f
}

// LongKernel is Kernel for tests that only long runs do.
func LongKernel(t testing.TB) *tracefs.FS {
	t.Helper()
	fixture.NeedLong(t)
	return Kernel(t)
}

// Needs skips a test of what the running kernel lacks.
func Needs(t testing.TB, has bool, feature string) {
	t.Helper()
	if !has {
		t.Skipf("the running kernel lacks %s", feature)
	}
}

// AnyKernel is Kernel for tests that do without instances.
func AnyKernel(t testing.TB) *tracefs.FS {
	t.Helper()
	cant := t.Skipf
	if os.Getenv("FTGO_TEST_KERNEL") == "require" {
		cant = t.Fatalf
	}
	if os.Geteuid() != 0 {
		cant("kernel test: needs root")
	}
	f, _, err := tracefs.Mount()
	if err != nil {
		cant("kernel test: %v", err)
	}
	if _, err := os.Stat(f.Dir() + "/uprobe_events"); err != nil {
		cant("kernel test: %v", err)
	}
	mounts := tracingMounts(t)
	Limit(t, limit())
	t.Cleanup(func() {
		// What pipes of tests beside this one have kept.
		if err := f.RemoveHeld(); err != nil {
			t.Log(err)
		}
		CheckClean(t, f)
		if after := tracingMounts(t); after != mounts {
			t.Errorf("mounts of tracefs are\n%s\nand were\n%s", after, mounts)
		}
	})
	return f
}

// limit is how long a test may take, with all its subtests.
func limit() time.Duration {
	switch {
	case fixture.All(), os.Getenv("FTGO_TRIAL") != "":
		return 24 * time.Hour
	case fixture.Long():
		return 20 * time.Minute
	}
	return 3 * time.Minute
}

// Limit fails a test that takes longer, and kills what it has started and starts: nothing waits for a
// program for ever.
func Limit(t testing.TB, limit time.Duration) {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	go func() {
		select {
		case <-ended:
			return
		case <-time.After(limit):
			t.Errorf("it takes longer than %v: what it has started is killed", limit)
		}
		for {
			killChildren(os.Getpid())
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
	}()
}

// killChildren kills what a process has started, and what that has: whoever keeps a pipe open is
// waited for, too.
func killChildren(of int) {
	pids, _ := procfs.All() // what was read will do
	for _, pid := range pids {
		if stat, err := procfs.ReadStat(pid); err == nil && stat.Parent == of {
			killChildren(pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// tracingMounts are the places where tracefs is mounted, except where the kernel does that by
// itself, when somebody looks below debugfs.
func tracingMounts(t testing.TB) string {
	b, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "tracefs" && !strings.HasSuffix(f[1], "/debug/tracing") {
			places = append(places, f[1])
		}
	}
	return strings.Join(places, " ")
}

// CheckClean fails the test if this process has left something in the kernel.
func CheckClean(t testing.TB, f *tracefs.FS) {
	prefix := fmt.Sprintf("ftgo_%d_", os.Getpid())
	b, err := os.ReadFile(f.Dir() + "/uprobe_events")
	if err != nil {
		t.Errorf("read uprobe_events: %v", err)
	}
	if strings.Contains(string(b), prefix) {
		t.Errorf("probes of this process are left in uprobe_events:\n%s", b)
	}
	for _, dir := range []string{"instances", "events"} {
		entries, err := os.ReadDir(f.Dir() + "/" + dir)
		if err != nil {
			t.Errorf("read %s: %v", dir, err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				t.Errorf("%s/%s is left", dir, e.Name())
			}
		}
	}
}

// WaitArmed waits until a session of this process has armed its probes.
func WaitArmed(t testing.TB, f *tracefs.FS) {
	t.Helper()
	WaitArmedBy(t, f, os.Getpid())
}

// WaitArmedBy waits until a session of a process has.
func WaitArmedBy(t testing.TB, f *tracefs.FS, pid int) {
	t.Helper()
	prefix := fmt.Sprintf("ftgo_%d_", pid)
	pattern := f.Dir() + "/instances/" + prefix + "*/events/" + prefix + "*/enable"
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			// "X" is some events of the group, "1" all of them.
			if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) == "1" {
				return
			}
		}
	}
	t.Fatal("no probes were armed within a minute")
}

// RightOnce repeats a run that a slow moment of the machine can spoil until what it returns,
// what is wrong, is nothing, and says what is wrong in the last if none is right. A run that
// fails the test is the last. It waits before each further run, longer each time, because slow
// moments of a machine last for seconds.
func RightOnce(t testing.TB, tries int, say func(format string, args ...any), run func() (wrong []string)) {
	t.Helper()
	var wrong []string
	for i := range tries {
		time.Sleep(time.Duration(i) * 250 * time.Millisecond)
		if wrong = run(); len(wrong) == 0 || t.Failed() {
			return
		}
	}
	say("wrong in each of %d runs; in the last:\n%s", tries, strings.Join(wrong, "\n"))
}
