package tracefs

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// locking records the operations that are made while the lock is held.
type locking struct {
	osFiles
	t    *testing.T
	dir  string
	held []string
}

func (l *locking) note(what string) {
	fd, err := unix.Open(l.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		l.held = append(l.held, what)
	}
}

func (l *locking) Write(path, text string) error { l.note(filepath.Base(path)); return nil }
func (l *locking) Read(path string) ([]byte, error) {
	l.note("read " + filepath.Base(path))
	return nil, nil
}
func (l *locking) Append(path, text string) error { l.note(filepath.Base(path)); return nil }
func (l *locking) Mkdir(path string) error        { l.note("mkdir"); return nil }
func (l *locking) Rmdir(path string) error        { l.note("rmdir"); return nil }

// TestLockedFiles checks that operations that can deadlock the kernel are made under the lock.
func TestLockedFiles(t *testing.T) {
	l := &locking{t: t, dir: t.TempDir()}
	ops := lockedFiles{l, l.dir}
	_, event := ops.Read("events/a/b/enable")
	_, group := ops.Read("events/a/enable")
	for _, err := range []error{
		event, group, ops.Write("events/a/b/enable", "0"), ops.Write("events/a/enable", "0"),
		ops.Mkdir("instances/a"), ops.Write("options/record-tgid", "1"), ops.Write("enable", "1"),
		ops.Append("uprobe_events", "p:a/b c:1\n"), ops.Rmdir("instances/a"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"read enable", "enable", "mkdir", "record-tgid", "uprobe_events", "rmdir"}
	if !slices.Equal(l.held, want) {
		t.Errorf("held the lock at %q, want %q", l.held, want)
	}
}
