package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// remainsOf is what a process has in the kernel.
func remainsOf(t *testing.T, f *tracefs.FS, pid int) (instances, groups int) {
	t.Helper()
	count := func(dir string) int {
		names, err := filepath.Glob(fmt.Sprintf("%s/%s/ftgo_%d_*", f.Dir(), dir, pid))
		noError(t, err)
		return len(names)
	}
	return count("instances"), count("events")
}

// tracingMounts are the lines of mountinfo that tracing is concerned with.
func tracingMounts(t *testing.T) string {
	t.Helper()
	b := readFile(t, "/proc/self/mountinfo")
	var text strings.Builder
	for line := range strings.Lines(b) {
		if strings.Contains(line, "tracefs") || strings.Contains(line, "debugfs") {
			text.WriteString(line)
		}
	}
	return text.String()
}

// TestKernelKilledAnytime kills runs at random moments, while they arm, record and
// disarm. What they leave, ftgo clean removes, or else the next run, and the target goes
// on. 12 of them are killed, or 200 with FTGO_TEST_LONG=all, which takes some minutes.
func TestKernelKilledAnytime(t *testing.T) {
	f := tracetest.LongKernel(t)
	runs := 12
	if fixture.All() {
		runs = 200
	}
	target := server(t, fixture.Build(t, "server"))
	mounts := tracingMounts(t)
	kinds := [][]string{
		{"probe", "-d", "0.05", target.Path, "main.*"},
		{"count", "-d", "0.05", target.Path, "main.*"},
		{"raw", "probe", "-d", "0.05", target.Path, "main.*"},
		{"trace", "-d", "0.05", target.Path, "main.tick"},
	}
	var took [4]time.Duration
	for i, args := range kinds {
		p := exec.Command(built(t), readBy(t, args)...)
		start := time.Now()
		if out, err := p.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		took[i] = time.Since(start)
	}
	var ended, nothing, both, instanceOnly, groupOnly int
	for i := 0; i-ended < runs && i < 4*runs; i++ {
		kind := i % len(kinds)
		p := exec.Command(built(t), readBy(t, kinds[kind])...)
		noError(t, p.Start())
		time.Sleep(time.Duration(rand.Int64N(int64(took[kind]))))
		p.Process.Kill()
		p.Wait()
		pid := p.Process.Pid
		took[kind] += took[kind] / 20
		instances, groups := remainsOf(t, f, pid)
		switch {
		case p.ProcessState.Exited():
			ended++
			took[kind] = took[kind] * 3 / 4 // the machine was busier before
		case instances > 0 && groups > 0:
			both++
		case instances > 0:
			instanceOnly++
		case groups > 0:
			groupOnly++
		default:
			nothing++
		}
		then := []string{"clean"}
		if i%3 == 2 {
			then = []string{"count", "-d", "0.01", target.Path, "main.tick"}
		}
		if r := ftgo(t, then...); r.code != 0 {
			t.Errorf("ftgo %s: status %d\n%s", then[0], r.code, r.stderr)
		}
		nothingOf(t, f, pid)
		if t.Failed() {
			t.Fatalf("after run %d, %q, had left %d instances and %d groups", i, kinds[kind], instances, groups)
		}
	}
	killed := both + instanceOnly + groupOnly + nothing
	t.Logf("%d were killed, %d had ended before; left: %d both, %d an instance, %d probes, %d nothing", killed, ended, both, instanceOnly, groupOnly, nothing)
	if both+instanceOnly+groupOnly == 0 {
		t.Error("nothing was ever left: the test tests nothing")
	}
	if now := tracingMounts(t); now != mounts {
		t.Errorf("mounts were\n%sand are\n%s", mounts, now)
	}
	target.unharmed(t)
}

// TestKernelCleanNamespaces: process numbers of a container mean nothing outside, and
// the other way round; nor do start times of another time namespace.
func TestKernelCleanNamespaces(t *testing.T) {
	fixture.NeedLong(t)
	container := []string{"--pid", "--mount-proc"}
	clock := []string{"--time", "--boottime", "1000003"}
	t.Run("pid", func(t *testing.T) { cleanNamespaces(t, container) })
	if _, err := os.Stat("/proc/self/ns/time"); err != nil {
		t.Skip("no time namespaces: since Linux 5.6")
	}
	t.Run("time", func(t *testing.T) { cleanNamespaces(t, clock) })
	t.Run("both", func(t *testing.T) { cleanNamespaces(t, slices.Concat(container, clock)) })
}

// cleanNamespaces has a run in namespaces that unshare makes, one outside of them, and cleans
// here and there.
func cleanNamespaces(t *testing.T, flags []string) {
	f := tracetest.Kernel(t)
	args := []string{"count", "-o", "json", "-d", "60", fixture.Build(t, "flood"), "main.leaf"}
	outside := tracer(t, args...)
	unshare := append(flags, "--fork", "--kill-child")
	const named = `readlink /proc/self/ns/pid >&2; echo "number $$" >&2; exec "$@"`
	inside := start(t, exec.Command("unshare", slices.Concat(unshare, []string{"sh", "-c", named, "sh", built(t)}, args)...))
	inside.await(t)
	var space uint64
	var pid int
	if _, err := fmt.Sscanf(inside.err.String(), "pid:[%d]\nnumber %d\n", &space, &pid); err != nil {
		t.Fatalf("%v\n%s", err, inside.err.String())
	}
	// The instance of the probes asked for is there, and their group, if nobody has removed them.
	theirs, ours := firstGroup(t, f, pid), firstGroup(t, f, outside.Process.Pid)
	if in := fmt.Sprintf("_ns%d", space); slices.Contains(flags, "--pid") && !strings.HasSuffix(theirs, in) {
		t.Errorf("%s is not of %s", theirs, in)
	}
	left := func(session string) int {
		names, err := filepath.Glob(f.Dir() + "/*s/" + session)
		noError(t, err)
		return len(names)
	}
	for _, c := range [][]string{{built(t), "clean"}, slices.Concat([]string{"unshare"}, unshare, []string{built(t), "clean"})} {
		out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
		if err != nil || strings.Contains(string(out), fmt.Sprintf("ftgo_%d_", pid)) || strings.Contains(string(out), fmt.Sprintf("ftgo_%d_", outside.Process.Pid)) {
			t.Errorf("%q: %v\n%s", c, err, out)
		}
		if left(ours) != 2 || left(theirs) != 2 {
			t.Errorf("after %q: of 2 things there are %d outside, %d inside", c, left(ours), left(theirs))
		}
	}
	inside.Process.Kill()
	inside.Wait()
	// unshare's child dies with it, but in its own time.
	for range 100 {
		ran(t, "clean")
		// Up to Linux 5.4.0 the pipe of the run outside keeps the instance.
		if names, err := filepath.Glob(f.Dir() + "/events/" + theirs); err != nil || len(names) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	outside.interrupted(t)
	if r := ftgo(t, "clean"); r.code != 0 || left(theirs) > 0 {
		t.Errorf("clean: status %d, and %d things of the run inside are left\n%s", r.code, left(theirs), r.stderr)
	}
}
