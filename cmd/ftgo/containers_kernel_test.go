package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// cgroup makes a control group in a hierarchy of some version, and removes it when all processes in it
// have ended.
func cgroup(t *testing.T, kind, name string) (dir string) {
	t.Helper()
	text := readFile(t, "/proc/self/mountinfo")
	for _, m := range procfs.ParseMounts(text) {
		if m.Kind != kind || m.Root != "/" {
			continue
		}
		dir = filepath.Join(m.Point, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() {
			err := os.Remove(dir)
			for range 1000 { // what was killed takes a moment to end
				if err == nil || errors.Is(err, os.ErrNotExist) {
					break
				}
				time.Sleep(10 * time.Millisecond)
				err = os.Remove(dir)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			os.Remove(filepath.Dir(dir)) // unless another test has groups there
		})
		return dir
	}
	t.Skipf("no %s to make groups in", kind)
	return ""
}

// contained starts a program of testdata/family in a container: a root, pid and mount namespaces and a
// control group of its own.
func contained(t *testing.T, group string, steps ...string) (m *member, inside int) {
	t.Helper()
	return containedAs(t, "family", group, steps...)
}

// containedAs is contained with another name for the program.
func containedAs(t *testing.T, name, group string, steps ...string) (m *member, inside int) {
	t.Helper()
	for _, tool := range []string{"unshare", "chroot", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	target := fixture.Build(t, "family", "-tags", "osusergo,netgo")
	root := t.TempDir()
	// The file is on a file system that is not mounted outside, and links lead to it as they do from within.
	script := `set -e
echo $$ >"$1"/cgroup.procs
exec unshare -fpm --kill-child --mount-proc sh -c "$2" "$0" "$3" "$4" "$5"`
	within := `set -e
mount -t tmpfs none "$0"; mkdir "$0"/proc "$0"/app; cp "$1" "$0"/app/$2; ln -s /app/$2 "$0"/current; ln -s "$1" "$0"/evil; mount -t proc none "$0"/proc
exec chroot "$0" /app/$2 stdin $3`
	args := []string{"sh", "-c", script, root, group, within, target, name, strings.Join(steps, " ")}
	m = family(t, args...)
	return m, childOf(t, m.Process.Pid)
}

// TestKernelContainers: --container and --cgroup take what runs in a container, with BINARY as it is called there
// or without, and nobody else.
func TestKernelContainers(t *testing.T) {
	tracetest.LongKernel(t)
	id := fmt.Sprintf("%08x", os.Getpid()) + strings.Repeat("a7", 28)
	for _, kind := range []string{"cgroup2", "cgroup"} {
		for _, c := range []struct {
			name string
			args []string
			want uint64
		}{
			{"an id", []string{"--container", id[:12], "main.work"}, 3 + 11},
			{"BINARY", []string{"--container", id, "/current", "main.work"}, 3 + 11},
			{"a name", []string{"--container", id[:20], "-p", "family", "main.work"}, 3 + 11},
			{"children", []string{"--container", id[:12], "--fork", "main.work"}, 3 + 5 + 11},
			{"a group", []string{"--cgroup", "GROUP", "main.work"}, 3 + 11},
			{"a path", []string{"--cgroup", "/ftgo-test/docker-" + id + ".scope", "/app/family", "main.work"}, 3 + 11},
		} {
			t.Run(kind+" "+c.name, func(t *testing.T) {
				group := cgroup(t, kind, "ftgo-test/docker-"+id+".scope")
				other, _ := contained(t, cgroup(t, kind, "ftgo-test/"+strings.Repeat("b", 64)), "work=101")
				m, inside := contained(t, group, "work=3", "child=5", "thread", "work=11")
				args := slices.Clone(c.args)
				for i := range args {
					args[i] = strings.Replace(args[i], "GROUP", group, 1)
				}
				p := tracer(t, append([]string{"probe", "-o", "json"}, args...)...)
				other.goOn(t)
				m.goOn(t)
				r := p.result(t)
				workCalls(t, r, c.want)
				if want := fmt.Sprintf("process %d", inside); !strings.Contains(r.stderr, want) {
					t.Errorf("%q is not said:\n%s", want, r.stderr)
				}
			})
		}
	}
}

// TestKernelContainerCompleted: ids, groups and functions of containers are offered.
func TestKernelContainerCompleted(t *testing.T) {
	tracetest.Kernel(t)
	id := fmt.Sprintf("%08xd", os.Getpid()) + strings.Repeat("d", 55)
	contained(t, cgroup(t, "cgroup2", "ftgo-test/"+id))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--container", id[:8]}, id[:12]}, {[]string{"--cgroup", "/ftgo-t"}, "/ftgo-test/" + id}, {[]string{"--container", id, "main.wo"}, "main.work"},
	} {
		r := ftgo(t, append([]string{cli.CompleteArg, "--", "probe"}, c.args...)...)
		if !slices.Contains(strings.Split(r.stdout, "\n"), c.want) {
			t.Errorf("%q: %q; want %s", c.args, r.stdout, c.want)
		}
	}
}

// TestKernelContainerRefused: what is not there, or not one, is one clear line.
func TestKernelContainerRefused(t *testing.T) {
	tracetest.Kernel(t)
	id := func(n int) string { return fmt.Sprintf("%08x%d", os.Getpid(), n) + strings.Repeat("c", 55) }
	groups := []string{cgroup(t, "cgroup2", "ftgo-test/"+id(1)), cgroup(t, "cgroup2", "ftgo-test/"+id(2))}
	_, pid := contained(t, groups[0])
	_, pid2 := contained(t, groups[1])
	contained(t, groups[1])
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--container", id(1)[:8], "main.work"}, cli.ExitUsage, "means 2 containers: " + id(1)[:12] + ", " + id(2)[:12]},
		{[]string{"--container", id(2), "main.work"}, cli.ExitUsage, "means 2 processes ("},
		{[]string{"--container", id(3), "main.work"}, cli.ExitFailed, "no such container runs"},
		{[]string{"--container", id(1), "/nowhere", "main.work"}, cli.ExitFailed, `open "/nowhere" in /proc/`},
		{[]string{"--container", id(1), "/evil", "main.work"}, cli.ExitFailed, `open "/evil" in /proc/`}, // to a file outside
		{[]string{"--container", id(1), "-p", fmt.Sprint(pid2), "main.work"}, cli.ExitUsage, "has no such process"},
		{[]string{"--container", id(1), "-p", "server", "main.work"}, cli.ExitFailed, "has no such process"},
		{[]string{"--cgroup", "/ftgo-test/none", "main.work"}, cli.ExitFailed, "no process in it"},
		{[]string{"--cgroup", "/", "--container", id(1), "main.work"}, cli.ExitUsage, "exclude each other"},
		{[]string{"--container", id(1), "main.work", "--", "true"}, cli.ExitUsage, "exclude each other"},
		{[]string{"--container", id(1), "-p", fmt.Sprint(pid), "main.nothing"}, cli.ExitNothing, "no function matches"},
	} {
		r := ftgo(t, append([]string{"count", "-q"}, c.args...)...)
		if r.code != c.code || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, c.text) {
			t.Errorf("%q: status %d, want %d with %q\n%s", c.args, r.code, c.code, c.text, r.stderr)
		}
	}
}
