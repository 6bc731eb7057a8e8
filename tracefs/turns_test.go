package tracefs

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// locking is a fake that notes what is done while the lock is held.
type locking struct {
	*fakeFiles
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

// TestTurns: what can lock two who trace at once for good is done by one at a time.
func TestTurns(t *testing.T) {
	f, fake := newFake(t)
	l := &locking{fakeFiles: fake, dir: f.path("instances")}
	ops := turns{l, l.dir}
	_, event := ops.Read(f.path("events/a/b/enable"))
	_, group := ops.Read(f.path("events/a/enable"))
	for _, err := range []error{
		event, group, ops.Write(f.path("events/a/b/enable"), "0"), ops.Write(f.path("events/a/enable"), "0"),
		ops.Mkdir(f.path("instances/a")), ops.Write(f.path("options/record-tgid"), "1"), ops.Write(f.path("enable"), "1"),
		ops.Append(f.path("uprobe_events"), "p:a/b c:1\n"), ops.Rmdir(f.path("instances/a")),
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
