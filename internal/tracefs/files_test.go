package tracefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestLockedFiles checks that accesses that can deadlock the kernel take the lock. The lock is not a directory, so taking it
// fails.
func TestLockedFiles(t *testing.T) {
	dir := t.TempDir()
	fixture.NoError(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	o := osFiles{filepath.Join(dir, "lock")}
	read := func(name string) error { _, err := o.Read(filepath.Join(dir, name)); return err }
	write := func(name string) error { return o.Write(filepath.Join(dir, name), "1") }
	for i, c := range []struct {
		err   error
		locks bool
	}{
		{read("events/a/b/enable"), false}, {read("events/a/enable"), true}, {write("events/a/b/enable"), false}, {write("events/a/enable"), true},
		{write("enable"), false}, {write("options/record-tgid"), true}, {o.Append(dir+"/uprobe_events", "p:a/b c:1\n"), true},
		{o.Mkdir(dir + "/a"), true}, {o.Rmdir(dir + "/a"), true},
	} {
		if at, ok := errors.AsType[*fs.PathError](c.err); !ok || (at.Op == "lock") != c.locks {
			t.Errorf("access %d: %v, want a lock: %v", i, c.err, c.locks)
		}
	}
}
