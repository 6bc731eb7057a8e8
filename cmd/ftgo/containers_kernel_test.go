package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
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
